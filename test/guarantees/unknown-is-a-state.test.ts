import type { HoldfastError } from '../../src/client/errors.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChargeInput } from '../../src/contract/charge.js';
import type { FaultInput } from '../../sandbox/control.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { movements } from '../../tools/audit/ledger.js';
import { startStack, type TestStack } from '../support/stack.js';
import { askUntilFinal } from '../support/ask-charges.js';
import { half } from '../support/counts.js';

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ webhook: false });
});
afterAll(async () => {
  await stack?.close();
});

const CHARGES = '/payments/*/charges';

/** Plants faults that only this charge meets on its way to and from the service. */
async function plant(input: ChargeInput, faults: readonly FaultInput[]): Promise<string[]> {
  const planted = [];
  for (const fault of faults) {
    planted.push(await stack.sandbox.addFault({ ...fault, reconciliation_id: input.reference }));
  }
  return planted.map(({ id }) => id);
}

async function mend(ids: readonly string[]): Promise<void> {
  for (const id of ids) await stack.sandbox.removeFault(id);
}

const FAULTS: [what: string, movedMeanwhile: number, faults: FaultInput[]][] = [
  ['the service takes longer than the caller waits', 0, [{ action: 'delay', delay_ms: 9_500, path: CHARGES }]],
  ['every reply is lost after the service has acted', 1, [{ action: 'drop_reply', method: 'POST', path: CHARGES }]],
  ['the service answers 503 to everything', 0, [{ action: 'status', status: 503 }]],
  ['the service answers garbage to everything', 0, [{ action: 'garbage' }]],
  ['the service acts and answers garbage', 1, [{ action: 'garbage', after: true, path: `${CHARGES}*` }]],
  ['nobody answers at all', 0, [{ action: 'refuse' }]],
  ['the service asks to wait', 0, [{ action: 'status', status: 429, retry_after_s: 2, method: 'POST' }]],
  ['our credentials are rejected', 0, [{ action: 'status', status: 401, path: CHARGES }]],
];

/** A flow that a mended service has answered by now has nothing to be woken for, and says so. */
async function wakeUnlessEnded(reference: string): Promise<void> {
  const answer = await stack.holdfast.retryNow(reference).catch((error: HoldfastError) => error.type);
  if (answer !== 'StateConflict') return expect(answer).toMatch(/^Woken: /);
  expect((await stack.holdfast.status(reference)).outcome).toMatchObject({ status: 'succeeded' });
}

async function isUnknownUntilItIsKnown(movedMeanwhile: number, faults: readonly FaultInput[]): Promise<void> {
  const input = await chargeInput(stack.sandbox);
  const planted = await plant(input, faults);

  expect(await stack.holdfast.charge(input, { waitFor: 1_500 })).toMatchObject({ status: 'unknown' });
  expect(movements(await stack.sandbox.ledger(input.reference))).toHaveLength(movedMeanwhile);
  const explained = await stack.holdfast.explain(input.reference);
  const { status, outcome } = await stack.holdfast.status(input.reference);
  expect({ known: ['started', 'unknown'].includes(status), outcome }).toEqual({ known: true, outcome: undefined });
  // What is not known now was not known when it was asked to explain.
  expect(explained).toContain('Never repeat it under a new reference');

  await mend(planted);
  await wakeUnlessEnded(input.reference);
  const asked = await askUntilFinal(stack.holdfast, input, 40_000);
  expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
  expect(asked.answer?.status).toBe('succeeded');
}

describe('while the outcome is not known the answer is "unknown", and later what the ledger says', () => {
  const cases = half(FAULTS);
  const underWay = new Map<string, Promise<void>>();
  // All at once: nearly all of their time is waiting.
  beforeAll(() => {
    for (const [what, movedMeanwhile, faults] of cases) {
      const ended = isUnknownUntilItIsKnown(movedMeanwhile, faults);
      // Its own test says what is wrong.
      ended.catch(() => undefined);
      underWay.set(what, ended);
    }
  });
  test.each(cases)('when %s', async (what) => {
    await expect(underWay.get(what)).resolves.toBeUndefined();
  });

  test('when the provider could not be reached: that is asked again under the same key, not taken for a decline', async () => {
    const input = await chargeInput(stack.sandbox);
    await plant(input, [
      { action: 'result', path: CHARGES, status: 'Failed', category: 'provider_network_error', times: 1 },
    ]);
    expect(await stack.holdfast.charge(input, { waitFor: '2 seconds' })).toMatchObject({ status: 'unknown' });
    const asked = await askUntilFinal(stack.holdfast, input, 40_000);
    expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
    expect(asked.answer?.status).toBe('succeeded');
  });
});

describe('when all workers are away', () => {
  test('the answer is unknown, and asking again is the same charge', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.succeeds);
    await stack.stopWorker();
    // The flow is there, but no worker: honest, and not an error.
    expect(await stack.holdfast.charge(input, { waitFor: 300 })).toMatchObject({ status: 'unknown' });
    await stack.startWorker();
    const asked = await askUntilFinal(stack.holdfast, input, 40_000);
    expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });
});

describe('an operator', () => {
  test('may not decide while the charge is still being sent, since it could yet move money', async () => {
    const input = await chargeInput(stack.sandbox);
    const planted = await plant(input, [{ action: 'status', status: 503, path: CHARGES }]);
    await stack.holdfast.charge(input, { waitFor: 700 });
    const decision = { status: 'notExecuted', who: 'ops', why: 'not in the dashboard' } as const;
    await expect(stack.holdfast.settleManually(input.reference, decision)).rejects.toMatchObject({
      type: 'StateConflict',
    });
    await mend(planted);
    await stack.holdfast.retryNow(input.reference);
    const asked = await askUntilFinal(stack.holdfast, input, 40_000);
    expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
