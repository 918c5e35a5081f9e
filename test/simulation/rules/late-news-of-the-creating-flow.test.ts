import { afterEach, describe, expect, test } from 'vitest';
import { createEventSink } from '../../../src/client/event-sink.js';
import { SIGNAL_NAMES } from '../../../src/contract/names.js';
import { beginActions, beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { answers, DAY, declined, failsWith, HOUR, MINUTE, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();

const pass = async (ms: number): Promise<void> => await time.passUntil((await time.now()) + ms);

afterEach(async () => {
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

const CREATED = '2026-11-25T11:00:00Z';

/** A hold over 200.00 USD of which its own flow has captured 60.00; captures of 140.00 before were answered as declined. */
async function heldAndDeclined(declines = 1) {
  const faults = declines === 0 ? [] : [{ ...declined('*/captures'), times: declines }];
  const hold = await beginHeld(time, { amount: 20_000 }, { faults });
  const ids: string[] = [];
  for (let n = 0; n < declines; n += 1) {
    const { transactionId = '' } = await hold.ask('capture', { commandId: `zero-${n}`, amount: 14_000 });
    ids.push(transactionId);
  }
  await hold.ask('capture', { commandId: 'first', amount: 6_000 });
  const { paymentId = '' } = (await hold.outcome()) as { paymentId?: string };
  const input = { paymentId, currency: 'USD', paymentReference: hold.reference };
  const [transactionId = ''] = ids;
  /** It came while no run was open, and nobody has looked at it for a day. */
  const park = async (id = transactionId, created = CREATED): Promise<void> => {
    const of = { businessUnit: 'default', paymentId, transactionId: id, trusted: true, status: 'Succeed' as const };
    const event = { ...of, eventType: 'payment.capture.update', hash: `late-${id}`, created };
    await createEventSink(time.client).park({ event, reason: 'contradictsResult' });
    await pass(25 * HOUR);
  };
  const captures = async () => (await ledgerRows(time, paymentId)).filter((row) => row.startsWith('capture'));
  return { paymentId, input, captures, ids, transactionId, park };
}

type Held = Awaited<ReturnType<typeof heldAndDeclined>>;

async function opened({ input, transactionId }: Held) {
  const actions = await beginActions(time, input);
  const tells = async (status: 'Succeed' | 'Failed' | 'Pending', created = CREATED, id = transactionId) => {
    await actions.event({ eventType: 'payment.capture.update', transactionId: id, status, created, amount: 14_000 });
    await pass(MINUTE);
  };
  const isSeen = async () => await time.holdfast.retryNow({ workflowId: actions.workflowId }, OPERATOR);
  return { actions, tells, isSeen };
}

async function declinedByItsMaker() {
  const held = await heldAndDeclined();
  return { ...held, ...(await opened(held)) };
}

const MORE = { commandId: 'second', amount: 7_000 };
const NOTHING_LEFT = failsWith('StateConflict', 'left to capture');
const BEFORE = ['capture Failed 14000 USD', 'capture Succeed 6000 USD'];

describe('a signed event that calls a capture of the flow which made the payment Succeed, answered as declined', () => {
  test('counts against the next one, also in a later run', async () => {
    const { actions, input, tells, captures, transactionId } = await declinedByItsMaker();
    await tells('Succeed');
    expect(await actions.status()).toMatchObject({ operatorReason: expect.stringContaining(transactionId) });
    await expect(actions.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
    await pass(31 * DAY);
    const again = await beginActions(time, input);
    await expect(again.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
    expect(await again.status()).toMatchObject({ operatorReason: expect.stringContaining(transactionId) });
    expect(await captures()).toEqual(BEFORE);
  });

  test('stops the next one while that can not be sent', async () => {
    const { actions, paymentId, tells, captures } = await declinedByItsMaker();
    const { id } = await time.sandbox.addFault(answers(503, 'POST', `/payments/${paymentId}/captures`));
    await actions.command('capture', MORE);
    await pass(HOUR / 6);
    await tells('Succeed');
    await time.sandbox.removeFault(id);
    await pass(4 * HOUR);
    expect(await captures()).toEqual(BEFORE);
    expect(await actions.ask('capture', MORE)).toMatchObject({ status: 'notExecuted' });
  });

  test.each([
    ['the service has come back to what was answered', 'Failed'],
    ['a person has seen it, where the list says that it has failed', undefined],
  ] as const)('counts no more once %s', async (_how, then) => {
    const { actions, tells, captures } = await declinedByItsMaker();
    await tells('Succeed');
    // It is older than what was said last, and the other one says nothing.
    await tells('Failed', '2026-11-25T10:00:00Z');
    await tells('Pending', '2026-11-25T11:30:00Z');
    await expect(actions.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
    if (then === undefined) await time.holdfast.retryNow({ workflowId: actions.workflowId }, OPERATOR);
    else await tells(then, '2026-11-25T12:00:00Z');
    expect(await actions.ask('capture', { ...MORE, commandId: 'third' })).toMatchObject({ status: 'succeeded' });
    expect(await captures()).toEqual([...BEFORE, 'capture Succeed 7000 USD']);
  });

  test('counts where it was parked before the run was opened, until a person has seen it there', async () => {
    const held = await heldAndDeclined();
    await held.park();
    const { actions, isSeen } = await opened(held);
    await expect(actions.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
    expect(await actions.status()).toMatchObject({ operatorReason: expect.stringContaining(held.transactionId) });
    await isSeen();
    expect(await actions.ask('capture', { ...MORE, commandId: 'third' })).toMatchObject({ status: 'succeeded' });
    await pass(31 * DAY);
    const again = await beginActions(time, held.input);
    // It is sent, though the hold is over by then.
    expect(await again.ask('capture', { commandId: 'rest', amount: 7_000 })).toMatchObject({ status: 'declined' });
    expect(await again.status()).toMatchObject({ needsOperator: false });
  });

  test('counts where it was parked, until the service comes back to what was answered', async () => {
    const held = await heldAndDeclined();
    await held.park();
    const { actions, tells } = await opened(held);
    await expect(actions.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
    await tells('Failed', '2026-11-25T12:00:00Z');
    expect(await actions.ask('capture', { ...MORE, commandId: 'third' })).toMatchObject({ status: 'succeeded' });
  });

  test('counts although a person has seen another one of the same moment', async () => {
    const held = await heldAndDeclined(2);
    const [first, second] = held.ids;
    await held.park(second);
    const { actions, tells, isSeen } = await opened(held);
    await tells('Succeed', CREATED, first);
    await isSeen();
    await expect(actions.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
    expect(await actions.status()).toMatchObject({ operatorReason: expect.stringContaining(second ?? '') });
  });

  test('counts where the service did not say for a day which flow it is of', async () => {
    const { actions, paymentId, tells, captures } = await declinedByItsMaker();
    const { id } = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    await tells('Succeed');
    await pass(25 * HOUR);
    await time.sandbox.removeFault(id);
    await expect(actions.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
    expect(await captures()).toEqual(BEFORE);
  });

  test('counts although it was taken back while no command was known, and takes back what was parked', async () => {
    const held = await heldAndDeclined();
    await held.park();
    const { actions, tells } = await opened(held);
    await tells('Failed', '2026-11-25T12:00:00Z');
    expect(await actions.ask('capture', MORE)).toMatchObject({ status: 'succeeded' });
    expect(await actions.status()).toMatchObject({ needsOperator: false });
  });

  test('is nothing that calls a person where it says what was answered, though its flow could not be found for a day', async () => {
    const { input, paymentId, tells } = await declinedByItsMaker();
    const { id } = await time.sandbox.addFault(answers(503, 'GET', `/payments/${paymentId}`));
    await tells('Failed');
    await pass(25 * HOUR);
    await time.sandbox.removeFault(id);
    await pass(31 * DAY);
    const again = await beginActions(time, input);
    await again.ask('capture', MORE);
    expect(await again.status()).toMatchObject({ needsOperator: false });
  });

  test('does not count for another payment that was opened under its reference by mistake, and calls nobody there', async () => {
    const [held, other] = [await heldAndDeclined(), await heldAndDeclined()];
    await held.park();
    const wrong = { ...other.input, paymentReference: held.input.paymentReference };
    const actions = await beginActions(time, wrong);
    await expect(actions.ask('capture', MORE)).rejects.toMatchObject(failsWith('StateConflict'));
    expect((await time.client.workflow.getHandle(actions.workflowId).describe()).status.name).toBe('COMPLETED');
    const right = await beginActions(time, other.input);
    expect(await right.ask('capture', MORE)).toMatchObject({ status: 'succeeded' });
  });

  test('can be seen, and taken back, where a command has come to know of it', async () => {
    for (const then of ['seen', 'Failed'] as const) {
      const held = await heldAndDeclined(0);
      const first = await beginActions(time, held.input);
      const { id: declines } = await time.sandbox.addFault({ ...declined('*/captures'), times: 1 });
      const { transactionId = '' } = await first.ask('capture', { commandId: 'y', amount: 14_000 });
      await time.sandbox.removeFault(declines);
      await time.client.workflow.getHandle(first.workflowId).terminate('lost');
      const { actions, tells, isSeen } = await opened({ ...held, transactionId });
      const { id } = await time.sandbox.addFault(answers(503, 'GET', `/payments/${held.paymentId}`));
      await tells('Succeed');
      await pass(25 * HOUR);
      await time.sandbox.removeFault(id);
      await isSeen();
      expect(await actions.ask('capture', { commandId: 'y', amount: 14_000 })).toMatchObject({ status: 'declined' });
      if (then === 'Failed') {
        await tells('Succeed', '2026-11-25T12:00:00Z');
        await expect(actions.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
        await tells('Failed', '2026-11-25T13:00:00Z');
      }
      expect(await actions.ask('capture', { ...MORE, commandId: then })).toMatchObject({ status: 'succeeded' });
    }
  });
});

/** A hold of 200.00 USD that has captured 60.00 USD, after a capture by itself of the rest was declined. */
async function declinedByItself() {
  const faults = [{ ...declined('*/captures'), times: 1 }];
  const hold = await beginHeld(time, { amount: 20_000, captureMode: 'auto' }, { faults });
  await hold.ask('capture', { commandId: 'first', amount: 6_000 });
  const { paymentId = '' } = (await hold.outcome()) as { paymentId?: string };
  const entries = await time.sandbox.ledgerOf({ paymentId });
  const { transaction_id: transactionId } = entries.find(
    ({ status, kind }) => kind === 'capture' && status === 'Failed',
  )!;
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
  const event = {
    eventType: 'payment.capture.update',
    transactionId,
    status: 'Succeed',
    created: CREATED,
    amount: 14_000,
  } as const;
  return { actions, paymentId, event };
}

test('a capture that its flow made by itself and took for declined counts once a signed event calls it Succeed', async () => {
  const { actions, event } = await declinedByItself();
  await actions.event(event);
  await pass(MINUTE);
  await expect(actions.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
  await time.holdfast.retryNow({ workflowId: actions.workflowId }, OPERATOR);
  expect(await actions.ask('capture', { ...MORE, commandId: 'third' })).toMatchObject({ status: 'succeeded' });
});

test('it counts as well for a command that comes with the event, before that can be placed', async () => {
  const { actions, paymentId, event } = await declinedByItself();
  const whole = { ...event, hash: 'with-it', businessUnit: 'default', paymentId, currency: 'USD', trusted: true };
  await time.stopWorker();
  await time.client.workflow.getHandle(actions.workflowId).signal(SIGNAL_NAMES.transactionEvent, whole);
  const refused = expect(actions.ask('capture', MORE)).rejects.toMatchObject(NOTHING_LEFT);
  await time.startWorker();
  await refused;
});
