import { randomBytes } from 'node:crypto';
import { Client, WorkflowUpdateStage } from '@temporalio/client';
import { expect, test } from 'vitest';
import { TEST_ENCRYPTION_KEYS, testDataConverter } from '../../support/data-converter.js';
import { beginActions, begin, ledgerRows, SPECS } from '../../support/virtual-flows.js';
import { beginFlow, inputOf, MINUTE, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();

const NEW_KEY = `new:${randomBytes(32).toString('base64')}`;
const BOTH_KEYS = `${TEST_ENCRYPTION_KEYS},${NEW_KEY}`;

/** Encrypts with a key that not every worker has yet. */
const operator = (): Client =>
  new Client({
    connection: time.client.connection,
    namespace: time.client.options.namespace,
    dataConverter: testDataConverter(`${NEW_KEY},${TEST_ENCRYPTION_KEYS}`),
  });

/** The only worker from now on. */
function onlyWorker(keys: string): void {
  for (const worker of time.simulation.workers) worker.kill();
  time.simulation.startWorker({ keys });
}

/** What one worker accepts while a read is under way, and another one has to replay, which lacks its key. */
async function acceptedAndReplayed(workflowId: string, name: string, request: object, release: () => void) {
  const handle = operator().workflow.getHandle(workflowId);
  const update = await handle.startUpdate(name, { args: [request], waitForStage: WorkflowUpdateStage.ACCEPTED });
  const answer = update.result();
  answer.catch(() => undefined);
  onlyWorker(TEST_ENCRYPTION_KEYS);
  release();
  await time.passUntil((await time.now()) + 10 * MINUTE);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  onlyWorker(BOTH_KEYS);
  await time.passUntil((await time.now()) + 10 * MINUTE);
  return await answer;
}

test('what an operator has said is decided by no worker that can not read it', async () => {
  onlyWorker(BOTH_KEYS);
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [
    { action: 'result', status: 'Pending', path: '*/charges' },
  ]);
  await time.passUntil(charge.startedAt + 1_000);
  const decision = { ...OPERATOR, status: 'succeeded' };
  const { release } = time.hold('getCharge');
  expect(await acceptedAndReplayed(charge.workflowId, 'settleManually', decision, release)).toMatchObject({
    status: 'succeeded',
  });
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { operator: OPERATOR } });
});

test('a command that waits for its turn is refused by no worker that can not read it', async () => {
  onlyWorker(BOTH_KEYS);
  const charge = await begin(time, SPECS.charge(await inputOf(time, 'charge', { amount: 20_000 })));
  const { paymentId = '' } = await charge.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: charge.reference });
  const { reached, release } = time.hold('getPaymentAndTransactions');
  const { answer } = await actions.command('refund', { commandId: 'first', amount: 6_000 });
  await reached;
  const second = { commandId: 'second', amount: 7_000 };
  expect(await acceptedAndReplayed(actions.workflowId, 'refund', second, release)).toMatchObject({ amount: 7_000 });
  expect(await answer).toMatchObject({ status: 'succeeded', amount: 6_000 });
  expect((await ledgerRows(time, paymentId)).slice(1)).toEqual(['refund Succeed 6000 USD', 'refund Succeed 7000 USD']);
});
