import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../../sandbox/control.js';
import { movements } from '../../support/payments.js';
import { storedInSkippedTime } from '../../support/cards.js';
import { CARDS } from '../../support/charges.js';
import { beginHeld, type VirtualFlow } from '../../support/virtual-flows.js';
import {
  beginFlow,
  DAY,
  declined,
  HOUR,
  inputOf,
  MINUTE,
  OPERATOR,
  provideVoidsOfPending,
  sharedTime,
} from './context.js';

const time = sharedTime();

type Word = Parameters<typeof time.holdfast.settleManually>[1];
type Given = readonly [name: Parameters<VirtualFlow<unknown>['command']>[0], commandId: string];

/** Both wait at the engine while no worker is there, and come in one task. Answers what their callers are told. */
async function giveTogether(flow: Pick<VirtualFlow<unknown>, 'command'>, commands: readonly Given[]) {
  await time.stopWorker();
  const answers = commands.map(async ([name, commandId]) => {
    try {
      const { answer } = await flow.command(name, { commandId });
      return (await answer).status;
    } catch (error) {
      return String((error as Error & { cause?: Error }).cause?.message);
    }
  });
  await time.startWorker();
  return Promise.all(answers);
}

const ABOUT_TO = 'Refused: the flow is about to do another command';
const LEFT = ['authorization Succeed 6000 USD', 'void Succeed 6000 USD'];
const TAKEN = ['authorization Succeed 6000 USD', 'capture Succeed 6000 USD'];

interface Case {
  commands: readonly Given[];
  stored?: true;
  faults?: FaultInput[];
  expected: readonly string[];
  outcome: string;
  moved: readonly string[];
}

const ONCE: Record<string, Case> = {
  'a capture, and a reauthorization that would be declined': {
    commands: [
      ['capture', 'ship'],
      ['reauthorize', 'longer'],
    ],
    stored: true,
    expected: ['succeeded', ABOUT_TO],
    outcome: 'captured',
    moved: TAKEN,
  },
  'two reauthorizations': {
    commands: [
      ['reauthorize', 'one'],
      ['reauthorize', 'other'],
    ],
    stored: true,
    expected: ['succeeded', ABOUT_TO],
    outcome: 'voided',
    moved: [...LEFT, ...LEFT],
  },
  'a void and a reauthorization': {
    commands: [
      ['void', 'off'],
      ['reauthorize', 'longer'],
    ],
    stored: true,
    expected: ['succeeded', ABOUT_TO],
    outcome: 'voided',
    moved: LEFT,
  },
  'a capture that is declined and another capture': {
    commands: [
      ['capture', 'one'],
      ['capture', 'other'],
    ],
    faults: [{ ...declined('*/captures'), times: 1 }],
    expected: ['declined', ABOUT_TO],
    outcome: 'voided',
    moved: ['authorization Succeed 6000 USD', 'capture Failed 6000 USD', 'void Succeed 6000 USD'],
  },
  'a void that is declined and a capture': {
    commands: [
      ['void', 'off'],
      ['capture', 'ship'],
    ],
    faults: [{ ...declined('*/voids'), times: 1 }],
    expected: ['declined', ABOUT_TO],
    outcome: 'voided',
    moved: ['authorization Succeed 6000 USD', 'void Failed 6000 USD', 'void Succeed 6000 USD'],
  },
};

describe('of two commands that a hold gets in one task the second is refused, and nothing is done for it', () => {
  test.each(Object.entries(ONCE))('%s', async (_, { commands, stored, faults = [], expected, outcome, moved }) => {
    const card = stored === true ? await storedInSkippedTime(time) : {};
    const onFile =
      stored === true ? { cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction' } as const } : {};
    const hold = await beginHeld(time, { ...card, ...onFile }, { faults });
    if (commands[0]?.[0] === 'capture' && stored === true)
      await time.sandbox.addFault({ ...declined('*/authorizations'), reconciliation_id: hold.reference });
    const answers = giveTogether(hold, commands);
    expect(await hold.outcome()).toMatchObject({ status: outcome });
    expect(await answers).toEqual(expected);
    expect(await movements(time, hold.reference)).toEqual(moved);
  });
});

describe('where the service voids what pends', () => {
  test('a void in the same task as a capture that pends is refused, and does not end that capture', async () => {
    await provideVoidsOfPending(time, 'allowed');
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    const hold = await beginHeld(time, {}, { faults: [{ action: 'result', status: 'Pending', path: '*/captures' }] });
    const answers = giveTogether(hold, [
      ['capture', 'ship'],
      ['void', 'off'],
    ]);
    await time.passUntil(hold.startedAt + 5 * MINUTE);
    const { transactionId = '' } = await hold.status();
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
    expect(await answers).toEqual(['succeeded', ABOUT_TO]);
    expect(await movements(time, hold.reference)).toEqual(TAKEN);
    await time.sandbox.settings({ pendingMs: 10_000 });
    await provideVoidsOfPending(time, 'refused');
  });

  test('of two voids of a pending charge in one task one is sent, although it is declined', async () => {
    await provideVoidsOfPending(time, 'allowed');
    await time.sandbox.settings({ pendingMs: HOUR });
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
    await time.passUntil(flow.startedAt + 2_000);
    const { paymentId } = await flow.status();
    await time.sandbox.addFault({ ...declined(`/payments/${paymentId}/voids`), times: 1 });
    const answers = giveTogether(flow, [
      ['void', 'one'],
      ['void', 'other'],
    ]);
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await answers).toEqual(['declined', 'Refused: a void has been asked for, and is being carried out']);
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD', 'void Failed 6000 USD']);
    await time.sandbox.settings({ pendingMs: 10_000 });
    await provideVoidsOfPending(time, 'refused');
  });

  test('of two words about the void of a pending charge in one task the second does not decide the charge', async () => {
    await provideVoidsOfPending(time, 'allowed');
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
    await time.passUntil(flow.startedAt + 2_000);
    const { paymentId, transactionId } = await flow.status();
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    const { answer } = await flow.command('void', { commandId: 'off' });
    await time.passUntil(flow.startedAt + MINUTE);
    const { operation, transactionId: voided } = await flow.status();
    expect(operation).toBe('void');
    await time.stopWorker();
    const say = (words: object) => time.holdfast.settleManually(flow.reference, { ...OPERATOR, ...words } as Word);
    const word = say({ status: 'declined', transactionId: voided });
    const other = expect(say({ status: 'declined', why: 'another word' })).rejects.toThrow('another operation');
    await time.startWorker();
    expect(await word).toMatchObject({ status: 'declined' });
    await other;
    expect(await answer).toMatchObject({ status: 'declined' });
    expect(await flow.status()).toMatchObject({ status: 'pending', operation: 'charge', transactionId });
    await time.sandbox.complete(transactionId ?? '', { status: 'Succeed' });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    await time.sandbox.settings({ pendingMs: 10_000 });
    await provideVoidsOfPending(time, 'refused');
  });
});
