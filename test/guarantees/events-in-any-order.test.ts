import { afterAll, beforeAll, expect, test } from 'vitest';
import fc from 'fast-check';
import { CARDS } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { authorizeInput, movements } from '../support/payments.js';
import { chargeOnlyEventsSettle, expectRightEnd } from '../support/settled-by-events.js';
import { eventBody, eventsIn, eventsOfPayment, postEvent } from '../support/signed-events.js';
import { startStack, type TestStack } from '../support/stack.js';
import { fullOr } from '../support/counts.js';
import { until } from '../support/until.js';
import { isSimulated } from '../support/which-engine.js';

const UPDATE = 'payment.charge.update';
const ROUNDS = isSimulated() ? fullOr(100, 5) : 4;

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 600_000 });
});
afterAll(() => stack?.close());

type Posted = { eventType: string; body: unknown };

/** Each of them any number of times, lies between them, and the genuine ones at least once: the end is known by them. */
async function postInAnyOrder(genuine: readonly Posted[], strangers: readonly Posted[], seed: number): Promise<void> {
  expect(genuine.length).toBeGreaterThan(1);
  const pool = [...genuine, ...strangers];
  const [order = []] = fc.sample(fc.array(fc.constantFrom(...pool), { minLength: 8, maxLength: 20 }), {
    numRuns: 1,
    seed,
  });
  const all = [...order, ...genuine.toReversed()];
  // Of every other order several are under way at once, as with a service that waits for no answer.
  const atOnce = seed % 2 === 0 ? 4 : 1;
  for (let at = 0; at < all.length; at += atOnce) {
    const posted = all.slice(at, at + atOnce).map(async ({ eventType, body }) => {
      expect((await postEvent(stack.webhookUrl, eventType, body)).status).toBe(200);
    });
    await Promise.all(posted);
  }
}

test('events in any order, with any repetition and lies between them, end a charge as the service did', async () => {
  const ends: readonly { status: 'Succeed' | 'Failed'; category?: string }[] = [
    { status: 'Succeed' },
    { status: 'Failed', category: 'payment_method_declined' },
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    const end = ends[round % ends.length] ?? { status: 'Succeed' };
    const { input, paymentId, transactionId } = await chargeOnlyEventsSettle(stack, true);
    await stack.sandbox.complete(transactionId, end);
    const genuine = await eventsOfPayment(stack.sandbox, paymentId);
    const wrong = end.status === 'Succeed' ? 'Failed' : 'Succeed';
    const said = { reconciliationId: input.reference, status: wrong, amount: 1095, currency: 'USD' };
    const strangers = [{ transactionId }, { paymentId }].map((parts) => ({
      eventType: UPDATE,
      body: eventBody({ ...said, ...parts }),
    }));
    await postInAnyOrder(genuine, strangers, round + 1);
    const answer = await expectRightEnd(stack, input);
    expect(answer).toMatchObject({
      status: end.status === 'Succeed' ? 'succeeded' : 'declined',
      evidence: { knownBy: 'webhook' },
    });
    const taken = await eventsIn(stack.temporal, `payment-${input.reference}`);
    expect(new Set(taken).size).toBe(taken.length);
  }
}, 300_000);

test('and they end a hold and its capture so, though they lack the currency', async () => {
  const { sandbox, holdfast } = stack;
  for (let round = 0; round < ROUNDS / 2; round += 1) {
    const { reference, ...input } = await authorizeInput(stack, CARDS.pendsThenSucceeds, { amount: 2_500 });
    const authorize = () => holdfast.authorize({ reference, ...input });
    await sandbox.addFault({ action: 'lose_event', reconciliation_id: reference });
    const held = await authorize();
    if (held.status !== 'pending') throw new Error(`the authorization is ${held.status}`);
    const { paymentId = '', transactionId = '' } = held;
    const said = { paymentId, reconciliationId: reference, status: 'Failed', currency: 'USD', amount: 2_500 };
    const stranger = (eventType: string) => ({ eventType, body: eventBody(said) });
    const strangers = ['authorization', 'capture', 'void', 'refund'].map((kind) => stranger(`payment.${kind}.update`));

    await sandbox.complete(transactionId, { status: 'Succeed' });
    await postInAnyOrder(await eventsOfPayment(sandbox, paymentId), strangers, round + 1);
    await until(authorize, ({ status }) => status === 'authorized');
    await holdfast.capture(reference, { commandId: 'whole' }, { waitFor: '1 second' });
    const capture = await until(
      () => holdfast.status(reference),
      ({ status }) => status === 'pending',
    );
    // Every other capture is refused.
    const refused = round % 2 === 1;
    await sandbox.complete(capture.transactionId ?? '', refused ? { status: 'Failed' } : { status: 'Succeed' });
    await postInAnyOrder(await eventsOfPayment(sandbox, paymentId), strangers, -round - 1);
    await until(authorize, ({ status }) => status === (refused ? 'authorized' : 'captured'));
    expect(await movements(stack, reference)).toEqual([
      'authorization Succeed 2500 USD',
      `capture ${refused ? 'Failed' : 'Succeed'} 2500 USD`,
    ]);
  }
}, 300_000);

test('no event has failed or blocked a workflow', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
