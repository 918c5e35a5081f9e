/**
 * Replays the history on stdin with the SDK's own worker, and fails where that fails. A process of its own: under the
 * test runner the SDK's workflow threads are handed times that are no `Date`.
 * Arguments: bundle, workflow id. HOLDFAST_ENCRYPTION_KEYS are those of the history.
 */
import { text } from 'node:stream/consumers';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { createDataConverter } from '../../dist/src/security/data-converter.js';
import { parseKeyRing } from '../../dist/src/security/key-ring.js';

const [codePath, workflowId] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('ERROR') });
const dataConverter = createDataConverter(parseKeyRing(process.env['HOLDFAST_ENCRYPTION_KEYS'] ?? ''), {
  onCardData: 'refuse',
});
const history = historyFromJSON(JSON.parse(await text(process.stdin)));
await Worker.runReplayHistory({ workflowBundle: { codePath }, dataConverter }, history, workflowId);
