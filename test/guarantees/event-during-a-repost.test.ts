import { afterAll, beforeAll, expect, test } from 'vitest';
import { Worker } from '@temporalio/worker';
import type proto from '@temporalio/proto';
import type { ChargeInput } from '../../src/contract/charge.js';
import type { FaultInput } from '../../sandbox/control.js';
import { testDataConverter } from '../support/data-converter.js';
import { bundlePath } from '../support/temporal.js';
import { until } from '../support/until.js';
import { isSimulated } from '../support/which-engine.js';
import { SECOND, type StartedCharge, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';
import { expectOnLedger, plant, signalEvent } from '../time/checks.js';

type History = proto.temporal.api.history.v1.IHistory;

const REPOST_AFTER = 15 * SECOND;
const UNREACHABLE: FaultInput = {
  action: 'result',
  method: 'POST',
  path: '*/charges',
  status: 'Failed',
  category: 'provider_network_error',
  times: 1,
};

let time: VirtualTime;
let isClosed = false;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  if (!isClosed) await time?.close();
});

/** A charge that its provider could not be asked about, and that is just being sent again under its key. */
async function startReposting(
  input: ChargeInput,
): Promise<StartedCharge & { paymentId: string; transactionId: string }> {
  await plant(time, input, UNREACHABLE);
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + REPOST_AFTER - SECOND);
  const { paymentId = '', transactionId = '' } = await charge.status();
  await plant(time, input, { action: 'delay', method: 'POST', path: '*/charges', delay_ms: 4_000, times: 1 });
  // While this is under way the engine skips no time.
  await until(
    async () => time.requests.chargePosts(input.reference),
    (posts) => posts.length === 2,
  );
  return { ...charge, paymentId, transactionId };
}

async function historyOf({ workflowId }: StartedCharge): Promise<History> {
  const history = await time.client.workflow.getHandle(workflowId).fetchHistory();
  expect(history.events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  // Set by the time-skipping server (see `without-default-timeouts.ts`); the worker did not see them either.
  delete started?.workflowExecutionTimeout;
  delete started?.workflowRunTimeout;
  return history;
}

let settled: { history: History; workflowId: string } | undefined;

test('a signed event that says how the charge ended settles it, though the charge is just being sent again', async () => {
  const input = await time.input();
  const charge = await startReposting(input);
  const { paymentId, transactionId } = charge;
  await signalEvent(time, charge, { paymentId, transactionId });
  const outcome = await charge.outcome();

  expect(outcome).toMatchObject({ status: 'succeeded', transactionId, evidence: { knownBy: 'webhook' } });
  expect(time.requests.reads(paymentId)).toEqual([]);
  expect(time.requests.chargePosts(input.reference)).toHaveLength(2);
  // The answer to what was sent again, which the flow did not wait for.
  await until(
    () => time.sandbox.ledger(input.reference),
    ([only]) => only?.status === 'Succeed',
  );
  await expectOnLedger(time, charge, outcome);
  settled = { history: await historyOf(charge), workflowId: charge.workflowId };
});

// Whether simulated histories are as the server's is shown by the golden ones.
test.skipIf(isSimulated())(
  'and what that left in the history can be replayed (only with HOLDFAST_ENGINE=real)',
  async () => {
    // The SDK's own worker lives by the process's own clock.
    await time.close();
    isClosed = true;
    const options = { workflowBundle: { codePath: bundlePath() }, dataConverter: testDataConverter() };
    // Under its own id: payloads that name another flow count as in clear.
    await expect(Worker.runReplayHistory(options, settled?.history, settled?.workflowId)).resolves.toBeUndefined();
  },
);
