import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { bundlePath } from '../support/temporal.js';
import { GOLDEN_ENCRYPTION_KEYS } from './golden-key.js';
import { EVERY_LONG_SCENARIO, EVERY_SCENARIO } from './every-scenario.js';

// One worker for each history would fill the report with its comings and goings.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const FOLDER = new URL('./histories/', import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

describe('old histories replay on new code', () => {
  if (files.length === 0)
    test.skip('skipped: no golden history has been recorded yet (npm run golden)', () => expect(files).not.toEqual([]));
  else
    test('every ending has its golden history', () => {
      expect(
        Object.keys({ ...EVERY_SCENARIO, ...EVERY_LONG_SCENARIO }).filter((name) => !files.includes(`${name}.json`)),
      ).toEqual([]);
    });

  if (files.length > 0) {
    beforeAll(replayAll, 120_000);
    test.each(files)('%s', (file) => {
      expect(replayed.has(file)).toBe(true);
      expect(replayed.get(file)).toBeUndefined();
    });
  }
});

/** What is wrong with the replay of each file, if anything. */
const replayed = new Map<string, Error | undefined>();

/** By one worker: to make one for each takes longer than what it replays. */
async function replayAll(): Promise<void> {
  const histories = files.map((file) => {
    const history = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as History;
    return { history, workflowId: workflowIdOf(history) };
  });
  const options = {
    workflowBundle: { codePath: bundlePath() },
    dataConverter: createDataConverter(parseKeyRing(GOLDEN_ENCRYPTION_KEYS), { onCardData: 'star' }),
  };
  // One after the other, in their order.
  for await (const { error } of Worker.runReplayHistories(options, histories)) {
    replayed.set(files[replayed.size] ?? '', error);
  }
}

/** A flow checks its own workflow id, so a replay needs the one it had. */
function workflowIdOf(history: unknown): string {
  const events = (history as { events?: { workflowExecutionStartedEventAttributes?: { workflowId?: string } }[] })
    .events;
  const id = events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
  if (id === undefined || id === '') throw new Error('the history does not name its workflow');
  return id;
}
