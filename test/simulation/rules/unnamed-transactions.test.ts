import { describe, expect, test } from 'vitest';
import { beginActions } from '../../support/virtual-flows.js';
import { plant, signalEvent } from '../../time/checks.js';
import { calm, type NetworkStrategy } from '../world/strategies.js';
import { beginFlow, HOUR, inputOf, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';

/** The reply to a read is under way for so long that an event overtakes it. */
const SLOW = { fate: 'deliver', requestDelayMs: 2, replyDelayMs: 8 * SECOND } as const;
let isSlow = false;
const strategy: NetworkStrategy = (request) => (isSlow && request.method === 'GET' ? SLOW : calm(request));
const time = sharedTime({}, { strategy: () => strategy });

/** A charge that pends, and has ended at the service since. */
async function endedUnnoticed() {
  const input = await time.input();
  await plant(time, input, { action: 'result', status: 'Pending', path: '*/charges' });
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + 20 * MINUTE);
  const { paymentId = '', transactionId = '' } = await charge.status();
  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  return { input, charge, paymentId, transactionId };
}

/** The service lets the id of a transaction be kept out of its events, and signs it as empty. */
describe('a signed event of a transaction that it does not name', () => {
  const HIDDEN = { transactionId: undefined };

  test('makes a flow look whose transaction it may be of', async () => {
    const { charge, paymentId, transactionId } = await endedUnnoticed();
    await signalEvent(time, charge, { paymentId, ...HIDDEN });
    await time.passUntil(charge.startedAt + 21 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'succeeded', needsOperator: false });
    expect(await charge.outcome()).toMatchObject({ transactionId, evidence: { knownBy: 'webhook' } });
  });

  test('is for a person where it comes with the answer that ends its flow: it may be of a second one', async () => {
    const { input, charge, paymentId } = await endedUnnoticed();
    isSlow = true;
    await time.holdfast.retryNow(input.reference, OPERATOR);
    await time.passUntil((await time.now()) + 4 * SECOND);
    isSlow = false;
    await signalEvent(time, charge, { paymentId, ...HIDDEN });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await charge.status()).toMatchObject({
      operatorReason: 'an event calls a charge that it does not name Succeed, and the outcome does not',
    });
  });

  /** The flow of the commands to a payment whose flow has ended. */
  async function idle() {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    const { paymentId = '' } = await flow.outcome();
    return await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
  }

  test.each(['refund', 'void'])('calls a person where commands to its payment are awaited (%s)', async (kind) => {
    const actions = await idle();
    await actions.event({ eventType: `payment.${kind}.update`, status: 'Succeed', ...HIDDEN });
    await actions.event({ eventType: 'payment.payment.update', status: 'Succeed', ...HIDDEN });
    await time.passUntil(actions.startedAt + HOUR);
    expect(await actions.status()).toMatchObject({
      status: 'idle',
      operatorReason: expect.stringContaining(`an event calls a ${kind} Succeed and does not name it`),
    });
    await time.client.workflow.getHandle(actions.workflowId).terminate();
  });

  test.each([
    ['that only pends', { eventType: 'payment.refund.create', status: 'Pending' }],
    ['that nobody has signed', { eventType: 'payment.refund.update', status: 'Succeed', trusted: false }],
  ] as const)('is counted there where it is one %s', async (_what, told) => {
    const actions = await idle();
    await actions.event({ ...told, ...HIDDEN });
    await time.passUntil(actions.startedAt + HOUR);
    expect(await actions.status()).toMatchObject({ needsOperator: false, ignored: { namesNoTransaction: 1 } });
    await time.client.workflow.getHandle(actions.workflowId).terminate();
  });
});
