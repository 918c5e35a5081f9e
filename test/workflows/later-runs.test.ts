import { ApplicationFailure } from '@temporalio/workflow';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bulk } from '../../workflows/bulk.js';
import { notifications } from '../../workflows/notifications.js';
import { outgoing } from '../../workflows/outgoing.js';
import { reconcile } from '../../workflows/reconcile.js';

/** What `workflowInfo` tells. Files of one process share their modules, so that none can be replaced. */
beforeEach(() => {
  const info = { workflowId: 'bulk-strike', continuedFromExecutionRunId: 'the-run-before' };
  vi.stubGlobal('__TEMPORAL_ACTIVATOR__', { info });
});
afterEach(() => void vi.unstubAllGlobals());

/** As a later version of Holdfast may leave it. */
const LEFT = { v: 1_000 };
const BULK = { name: 'strike', businessUnit: 'default', action: { do: 'pause' }, who: 'Ada', why: 'a strike' };

/** A failure of the workflow ends it for good; any other error fails its task, which another worker is given. */
test.each<[string, (raw: unknown, carried?: never) => Promise<unknown>, unknown]>([
  ['bulk', bulk, BULK],
  ['reconcile', reconcile, {}],
  ['notifications', notifications, {}],
  ['outgoing', outgoing, {}],
])('a worker that can not read what the run before of %s has left does not end it', async (_type, flow, raw) => {
  const failure: unknown = await flow(raw, LEFT as never).catch((error: unknown) => error);
  expect(failure).not.toBeInstanceOf(ApplicationFailure);
  expect(String(failure)).toContain("This worker can't go on: ");
});
