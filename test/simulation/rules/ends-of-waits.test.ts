import { afterEach, describe, expect, test } from 'vitest';
import { CARDS } from '../../support/charges.js';
import { begin, beginHeld, reviewedInput, SPECS, type VirtualFlow } from '../../support/virtual-flows.js';
import {
  answers,
  beginFlow,
  DAY,
  HOUR,
  inputOf,
  MINUTE,
  provideVoidsOfPending,
  SECOND,
  sharedTime,
  shownRuns,
} from './context.js';

const FEW_EVENTS = 12;
/** Its engine suggests to continue as new after very few events: there is a border between any two waits. */
let suggestedAfter = FEW_EVENTS;
const time = sharedTime({}, { suggestRunAfter: () => suggestedAfter });
const RELEASE = { commandId: 'released' };

afterEach(async () => {
  suggestedAfter = FEW_EVENTS;
  await provideVoidsOfPending(time, 'refused');
  await time.sandbox.settings({ pendingMs: 10_000 });
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

const pass = async (ms: number): Promise<void> => await time.passUntil((await time.now()) + ms);

/** Events that change nothing, signed by nobody, so often that no wait would end between two of them. */
async function disturb(
  flow: VirtualFlow<unknown>,
  ms: number,
  { everyMs = 2 * SECOND, isDone = async () => false } = {},
): Promise<void> {
  for (let passed = 0; passed < ms && !(await isDone()); passed += everyMs) {
    await flow.event({ eventType: 'payment.refund.update', transactionId: `of-another-${passed}`, trusted: false });
    await pass(everyMs);
  }
}

/** Gives it before the first task of the flow's next run. */
async function beforeNextRun(flow: VirtualFlow<unknown>, give: () => Promise<unknown>): Promise<void> {
  const { engine } = time.simulation;
  const original = engine.begin.bind(engine);
  let given: Promise<unknown> | undefined;
  engine.begin = (start, options) => {
    if (start.workflowId !== flow.workflowId || start.continuedFrom === undefined || given !== undefined)
      return original(start, options);
    const run = original(start, { ...options, firstTaskAfterMs: 5 * SECOND });
    given = give();
    return run;
  };
  try {
    while (given === undefined) {
      await flow.event({ eventType: 'payment.payment.update' });
      await pass(MINUTE);
    }
    await given;
  } finally {
    engine.begin = original;
  }
}

describe('a run that begins with something else than the wait in which the one before it ended', () => {
  test('follows a void soon, and not only when the hold was due', async () => {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    await beforeNextRun(hold, async () => await hold.command('void', RELEASE));
    await pass(MINUTE);
    const { operation, status, transactionId = '', dueAt = '' } = await hold.status();
    expect({ operation, status }).toEqual({ operation: 'void', status: 'pending' });
    expect(Date.parse(dueAt) - (await time.now())).toBeLessThan(5 * MINUTE);
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    await pass(5 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'voided' });
  });
});

describe('events that are ignored put off no read', () => {
  test('of a charge that pends', async () => {
    await time.sandbox.settings({ pendingMs: 20 * SECOND });
    const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
    await disturb(charge, 2 * MINUTE, { isDone: async () => (await charge.status()).status === 'succeeded' });
    expect(await charge.status()).toMatchObject({ status: 'succeeded' });
  });

  test('of a review', async () => {
    const flow = await begin(time, SPECS.charge(await reviewedInput(time, { risk: { when: 'before' } })));
    await pass(2 * SECOND);
    const { paymentId = '', transactionId = '' } = await flow.status();
    const reads = () => time.requests.reads(paymentId).filter(({ path }) => path.endsWith(transactionId)).length;
    const before = reads();
    await disturb(flow, 2 * MINUTE);
    expect(reads()).toBeGreaterThan(before);
  });

  test('that proves that a void was never made', async () => {
    await provideVoidsOfPending(time, 'allowed');
    await time.sandbox.settings({ pendingMs: DAY });
    const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
    await pass(2 * SECOND);
    const { paymentId = '' } = await charge.status();
    await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/voids`));
    await charge.command('void', RELEASE);
    await pass(2 * MINUTE);
    expect(await charge.status()).toMatchObject({ operation: 'void', status: 'unknown' });
    await disturb(charge, 90 * MINUTE, { everyMs: 50 * SECOND });
    expect(await charge.status()).toMatchObject({ operation: 'charge', status: 'pending' });
  });
});

test('a partial capture that is sent again in a later run, after its void was declined, is sent over the same sum', async () => {
  await provideVoidsOfPending(time, 'allowed');
  await time.sandbox.settings({ pendingMs: 7 * DAY });
  const hold = await beginHeld(time, { amount: 10_000, onDeadline: 'void' });
  const { paymentId = '' } = await hold.status();
  const pends = { action: 'result', status: 'Pending' } as const;
  const [ofCapture, ofVoid] = await Promise.all(
    ['captures', 'voids'].map((path) => time.sandbox.addFault({ ...pends, path: `/payments/${paymentId}/${path}` })),
  );
  const captured = await hold.command('capture', { commandId: 'part', amount: 4_000 });
  await pass(MINUTE);
  const { transactionId: captureId = '' } = await hold.status();
  await hold.command('void', RELEASE);
  await pass(6 * HOUR);
  const { operation, transactionId: voidId = '' } = await hold.status();
  expect(operation).toBe('void');
  expect(shownRuns(time, hold.workflowId).length).toBeGreaterThan(3);
  // The run that began in the midst of the void is also the one that sends the capture again.
  suggestedAfter = 10_000;
  for (const { id } of [ofCapture, ofVoid].filter((fault) => fault !== undefined)) await time.sandbox.removeFault(id);
  await time.sandbox.complete(voidId, { status: 'Failed', category: 'payment_method_declined' });
  await time.sandbox.complete(captureId, { status: 'Failed', category: 'provider_network_error' });
  await pass(DAY);
  const sent = time.requests.operations(paymentId, 'captures');
  expect(sent.length).toBeGreaterThan(1);
  for (const { body = '' } of sent) expect(JSON.parse(body)).toMatchObject({ amount: 4_000 });
  await captured.answer;
});
