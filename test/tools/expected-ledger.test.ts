import { describe, expect, test } from 'vitest';
import { HoldfastError } from '../../src/client/index.js';
import type { TestStack } from '../support/stack.js';
import { withExpectations } from '../support/expected-ledger.js';

const INPUT = { reference: 'a', amount: 6_000, currency: 'KWD' };
const answerOf = (status: string, transactionId: string, more: object = {}) => ({
  ...{ reference: 'a', amount: 6_000, currency: 'KWD', paymentId: 'p' },
  ...{ status, transactionId, ...more },
});
const HELD = answerOf('authorized', 'auth');
const CAPTURED = answerOf('captured', 'cap', { authorizationId: 'auth', capturedAmount: 6_000 });
const entry = (kind: string, id: string, more: object = {}) => ({
  ...{ kind, payment_id: 'p', transaction_id: id, amount: 6_000, currency: 'KWD', status: 'Succeed' },
  ...{ idempotency_key: id, reconciliation_id: 'a', created: '0', ...more },
});
const ON_LEDGER = [entry('authorization', 'auth'), entry('capture', 'cap', { reconciliation_id: 'a-c' })];

/** Of a service with these onLedger, where a flow that ended so answers its authorization, and its capture with that. */
function stackWith(ledger: object[], capture: object | HoldfastError, outcome?: object) {
  const holdfast = {
    authorize: async () => HELD,
    capture: async () => {
      if (capture instanceof HoldfastError) throw capture;
      return capture;
    },
    status: async () => {
      if (outcome instanceof HoldfastError) throw outcome;
      return { paymentId: 'p', ...(outcome !== undefined && { outcome }) };
    },
  };
  return withExpectations({ holdfast, sandbox: { ledger: async () => ledger } } as unknown as TestStack);
}

async function differencesOf(stack: ReturnType<typeof stackWith>): Promise<string> {
  const { holdfast, expected: onLedger } = stack;
  await holdfast.authorize(INPUT as Parameters<typeof holdfast.authorize>[0]);
  await holdfast.capture('a', { reference: 'a-c' }).catch(() => undefined);
  return await onLedger.check().then(
    () => 'none',
    (error: { actual?: unknown }) => JSON.stringify(error.actual),
  );
}

describe('what the callers of one test were told', () => {
  const DONE = answerOf('succeeded', 'cap');
  test('fits a ledger that have just that', async () => {
    expect(await differencesOf(stackWith(ON_LEDGER, DONE, CAPTURED))).toBe('none');
  });

  test('fits a ledger of a hold that is still open', async () => {
    const unknown = new HoldfastError('EngineUnavailable', 'it may have started');
    expect(await differencesOf(stackWith(ON_LEDGER.slice(0, 1), unknown))).toBe('none');
    expect(
      await differencesOf(
        stackWith(
          [entry('authorization', 'auth'), entry('capture', 'cap', { status: 'Pending', reconciliation_id: 'a-c' })],
          answerOf('pending', 'cap'),
        ),
      ),
    ).toBe('none');
  });

  test('fits an empty ledger where the start was refused: there is no flow', async () => {
    const holdfast = {
      charge: async () => {
        throw new HoldfastError('InvalidInput', 'amount: ');
      },
      status: async () => {
        throw new HoldfastError('FlowNotFound', 'there is none');
      },
    };
    const sandbox = { ledger: async () => [] };
    const stack = withExpectations({ holdfast, sandbox } as unknown as TestStack);
    await expect(stack.holdfast.charge(INPUT as never)).rejects.toThrow('amount: ');
    await stack.expected.check();
  });

  test.each<[string, object[], object | HoldfastError, object | undefined, string]>([
    ['a capture that the ledger lacks', ON_LEDGER.slice(0, 1), DONE, CAPTURED, 'which is not in the ledger'],
    ['another currency', [ON_LEDGER[0]!, { ...ON_LEDGER[1]!, currency: 'USD' }], DONE, CAPTURED, 'not in KWD'],
    ['another sum', [ON_LEDGER[0]!, { ...ON_LEDGER[1]!, amount: 600 }], DONE, CAPTURED, 'amount was told as 6000'],
    ['a second capture', [...ON_LEDGER, entry('capture', 'cap2')], DONE, CAPTURED, 'nobody was told of capture cap2'],
    [
      'a second capture while it is open',
      [...ON_LEDGER, entry('capture', 'cap2', { reconciliation_id: 'a-c' })],
      DONE,
      undefined,
      'money moved 2 times',
    ],
    ['a decline of what was taken', ON_LEDGER, answerOf('declined', 'cap'), CAPTURED, 'status was told as Failed'],
    [
      'an end that says released',
      ON_LEDGER,
      DONE,
      answerOf('voided', 'v', { authorizationId: 'auth' }),
      'ended as voided',
    ],
    [
      'a refusal of what was done',
      [ON_LEDGER[0]!, entry('capture', 'cap', { reconciliation_id: 'a-c' })],
      new HoldfastError('StateConflict', 'Refused'),
      CAPTURED,
      'was refused, but the ledger has',
    ],
    [
      'an end that holds money still',
      ON_LEDGER.slice(0, 1),
      answerOf('declined', 'x'),
      answerOf('declined', 'auth'),
      'are still held',
    ],
    [
      'a flow that does not say how it stands',
      ON_LEDGER,
      DONE,
      new HoldfastError('EngineUnavailable', 'no answer'),
      'its flow could not be asked: ',
    ],
    [
      'a flow that is not there, and has answered',
      ON_LEDGER,
      DONE,
      new HoldfastError('FlowNotFound', 'there is none'),
      'its flow could not be asked: ',
    ],
  ])('does not fit with %s', async (_what, ledger, capture, outcome, sentence) => {
    expect(await differencesOf(stackWith(ledger, capture, outcome))).toContain(sentence);
  });

  test('may differ where a test says so, and then must', async () => {
    const lacking = stackWith(ON_LEDGER.slice(0, 1), DONE, CAPTURED);
    lacking.expected.except('a', /not in the ledger|ended as captured|still held/);
    expect(await differencesOf(lacking)).toBe('none');
    // Only for that one test.
    expect(await differencesOf(lacking)).toContain('which is not in the ledger');
    const fitting = stackWith(ON_LEDGER, DONE, CAPTURED);
    fitting.expected.except('a', /not in the ledger/);
    expect(await differencesOf(fitting)).toContain('a');
  });
});
