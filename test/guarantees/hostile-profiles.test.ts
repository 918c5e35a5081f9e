import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOSTILE_UNITS, type ProfileUnit, unitsOf } from '../../tools/stack/profile-units.js';
import { HoldfastError } from '../../src/client/index.js';
import type { Stored } from '../../src/contract/cards.js';
import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import { subscriptionWorkflowId } from '../../src/contract/names.js';
import { storeInput } from '../support/cards.js';
import { CARDS, newReference } from '../support/charges.js';
import { flowProblems, untilNoneIsOpen } from '../support/flow-health.js';
import { flowOf, resetToTask } from '../support/flows.js';
import { forEach } from '../support/for-each.js';
import { auditCharges, type ChargeRecord } from '../../tools/audit/audit-charges.js';
import { movements } from '../../tools/audit/ledger.js';
import {
  PROFILE_SCENARIOS,
  REFUSED_AFTER_SILENCE,
  SLOW_CHARGE,
  type ProfileScenario,
} from '../support/profile-scenarios.js';
import { startStack, type TestStack } from '../support/stack.js';
import { askForAll } from '../support/ask-charges.js';
import { fullOr, inTurn } from '../support/counts.js';
import { until } from '../support/until.js';

const UNITS = unitsOf('all');
const CONCURRENCY = 64;
const FULL = fullOr(1, 0) === 1;
const ROUNDS = fullOr(4, 1);
/** Enough for two polls of a pending transaction, and for a young list to show what it left out. */
const LIMIT_MS = 60_000;

interface ProfileCharge {
  readonly unit: ProfileUnit;
  readonly scenario: ProfileScenario;
  readonly input: ChargeInput;
}

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ billing: true, pendingMs: 300, units: HOSTILE_UNITS });
});
afterAll(async () => {
  await stack?.close();
});

let amount = 1_000;
async function newInput({ name, publicKey }: ProfileUnit, card: string = CARDS.succeeds): Promise<ChargeInput> {
  const { token } = await stack.sandbox.tokenize({ cardNumber: card, publicKey });
  return {
    reference: newReference(name),
    // Each another one, so that an answer that belongs to another charge would show.
    amount: (amount += 1),
    currency: 'USD',
    paymentMethod: { type: 'tokenized', token },
    businessUnit: name,
  };
}

async function prepare(unit: ProfileUnit, scenario: ProfileScenario): Promise<ProfileCharge> {
  const input = await newInput(unit, scenario.card);
  for (const fault of scenario.faults(unit)) {
    await stack.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
  }
  return { unit, scenario, input };
}

/** The ledger of these references. */
async function ledgerOf(inputs: readonly ChargeInput[]) {
  const references = new Set<string | null>(inputs.map(({ reference }) => reference));
  return (await stack.sandbox.ledger()).filter((entry) => references.has(entry.reconciliation_id));
}

/** Charges whose worker died while the service worked on them. A dead worker's tasks come back after 10 s. */
let killed: Promise<ChargeRecord[]>;
beforeAll(async () => {
  const inputs = await Promise.all(UNITS.map((unit) => newInput(unit)));
  for (const { reference } of inputs) await stack.sandbox.addFault({ ...SLOW_CHARGE, reconciliation_id: reference });
  killed = askForAll(stack.holdfast, inputs, { concurrency: inputs.length, limitMs: LIMIT_MS });
  await until(
    () => stack.sandbox.faults(),
    (faults) => faults.every(({ fired }) => fired > 0),
  );
  await stack.replaceWorker();
});

/** The batch, with the answer that each caller was given last. */
const answered: (ProfileCharge & { answer: ChargeOutcome | undefined })[] = [];

test('on every profile each ending, lost reply, failing answer and late refusal is told as the ledger has it', async () => {
  const charges: ProfileCharge[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const scenario of PROFILE_SCENARIOS) {
      for (const unit of UNITS) charges.push(await prepare(unit, scenario));
    }
  }
  const inputs = charges.map(({ input }) => input);
  const asked = await askForAll(stack.holdfast, inputs, { concurrency: CONCURRENCY, limitMs: LIMIT_MS });
  answered.push(...charges.map((charge, index) => ({ ...charge, answer: asked[index]?.answer })));

  expect(auditCharges(asked, await ledgerOf(inputs))).toEqual([]);
  expect(answered.flatMap(otherwiseThanPlanned)).toEqual([]);
  // All that were asked for, and none twice.
  expect((await stack.sandbox.health()).payments).toBe(inputs.length + UNITS.length);
  // Else nothing was attacked. What stands in the way of a poll is not met where an event is faster.
  const faults = (await stack.sandbox.faults()).filter(({ method }) => method !== 'GET');
  expect(faults.filter(({ fired }) => fired === 0)).toEqual([]);
}, 300_000);

function otherwiseThanPlanned({ unit, scenario, answer }: (typeof answered)[number]): string[] {
  const knownBy = answer !== undefined && 'evidence' in answer ? answer.evidence.knownBy : undefined;
  const wanted = scenario.knownBy?.(unit) ?? knownBy;
  if (answer?.status === scenario.ends && knownBy === wanted) return [];
  return [`${unit.name}: a charge that ${scenario.name} is ${answer?.status}, known by ${knownBy}`];
}

test('on every profile the same question has the same answer, and another one under its reference is refused', async () => {
  const inputs = answered.map(({ input }) => input);
  const ledger = await ledgerOf(inputs);
  await forEach(answered, CONCURRENCY, async ({ input, answer }) => {
    expect(await stack.holdfast.charge(input)).toEqual(answer);
    const other = { ...input, amount: input.amount + 1 };
    await expect(stack.holdfast.charge(other)).rejects.toMatchObject({ type: 'ReferenceConflict' });
  });
  expect(await ledgerOf(inputs)).toEqual(ledger);
}, 120_000);

test('on every profile a finished charge that is reset ends alike and sends nothing new', async () => {
  const chosen = answered.filter(({ scenario }) => FULL || scenario.name.startsWith('loses the replies'));
  const inputs = chosen.map(({ input }) => input);
  const ledger = await ledgerOf(inputs);
  expect(chosen.length).toBeGreaterThanOrEqual(UNITS.length);
  const unreadable = (await stack.sandbox.faults()).filter(
    ({ method, action }) => method === 'GET' && action === 'status',
  );
  await forEach(chosen, CONCURRENCY, async ({ input, answer }) => {
    await resetToTask(stack, input, 0);
    // What it was told before the reset proves no more than that there is something to be read.
    for (const fault of unreadable.filter((one) => one.reconciliation_id === input.reference)) {
      await until(
        () => stack.holdfast.status(input.reference),
        ({ ignored }) => ignored['readFailed'] !== undefined,
        LIMIT_MS,
      );
      await stack.sandbox.removeFault(fault.id);
      await stack.holdfast.retryNow(input.reference).catch(onlyIfEnded);
    }
    expectAlike(await resultOf(input), answer);
  });
  expect(await ledgerOf(inputs)).toEqual(ledger);
}, 300_000);

/** A flow that has looked by itself, and ends just then, takes no command any more. */
function onlyIfEnded(error: unknown): void {
  const ended = error instanceof HoldfastError && (error.type === 'FlowNotFound' || error.type === 'StateConflict');
  if (!ended) throw error;
}

async function resultOf(input: ChargeInput): Promise<ChargeOutcome> {
  const bound = Date.now() + LIMIT_MS;
  return (await stack.temporal.withDeadline(bound, () => flowOf(stack, input).result())) as ChargeOutcome;
}

/** The same ending, whatever told it. No signature covers a description, so what an event tells may lack one. */
function expectAlike(again: ChargeOutcome, answer: ChargeOutcome | undefined): void {
  const lacksDescription = [again, answer].some(
    (one) => one && 'evidence' in one && one.evidence.knownBy === 'webhook',
  );
  const ending = (one: ChargeOutcome | undefined) => ({
    ...one,
    evidence: undefined,
    // The provider's words are those of the moment in which it was asked.
    details: undefined,
    ...(lacksDescription && { description: undefined }),
  });
  expect(ending(again)).toEqual(ending(answer));
}

test('on every profile a refusal after silence proves nothing: the charge waits for proof', async () => {
  const inputs = await Promise.all(UNITS.map((unit) => newInput(unit)));
  await forEach(inputs, CONCURRENCY, async (input) => {
    for (const fault of REFUSED_AFTER_SILENCE) {
      await stack.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
    }
    await stack.holdfast.charge(input, { waitFor: 0 });
    const { status, outcome } = await until(
      () => stack.holdfast.status(input.reference),
      ({ waitingFor }) => waitingFor === 'proof',
    );
    expect({ status, outcome }).toEqual({ status: 'unknown', outcome: undefined });
    const decision = { status: 'notExecuted', who: 'Grace Hopper', why: 'it is in no onLedger' } as const;
    await stack.holdfast.settleManually(input.reference, decision);
    expect(await stack.sandbox.ledger(input.reference)).toEqual([]);
  });
}, 120_000);

test('on every profile a charge whose worker was killed in the midst of its call ends as the ledger says', async () => {
  const asked = await killed;
  const ledger = await ledgerOf(asked.map(({ input }) => input));
  expect(auditCharges(asked, ledger)).toEqual([]);
  expect(movements(ledger)).toHaveLength(UNITS.length);
}, 120_000);

/** Full counts take every profile, others two or three of them by turns. */
const takes = inTurn(6);

test('on every profile a card is put on file by a consent that is undone, and billed for its period once, though replies are lost', async () => {
  const chosen = UNITS.filter((_, index) => takes(index));
  await forEach(chosen, CONCURRENCY, async ({ name: businessUnit, publicKey }) => {
    const { token } = await stack.sandbox.tokenize({ cardNumber: CARDS.succeeds, publicKey });
    const paymentMethod = { type: 'tokenized' as const, token };
    const input = await storeInput(stack, { businessUnit, paymentMethod });
    const reference = newReference('club');
    const lost = { action: 'drop_reply', method: 'POST', times: 1 } as const;
    await stack.sandbox.addFault({ ...lost, path: `*/payment-methods/${token}` });
    await stack.sandbox.addFault({ ...lost, reconciliation_id: input.reference, path: '*/authorizations' });
    await stack.sandbox.addFault({ ...lost, reconciliation_id: `${reference}.1.1`, path: '*/charges' });

    const stored = await stack.holdfast.storeCard(input, { waitFor: LIMIT_MS });
    expect(stored).toMatchObject({ status: 'stored', money: { status: 'voided' } });
    const { customerId, consentTransactionId } = stored as Stored;
    await stack.holdfast.subscribe({
      ...{ reference, customerId, token, businessUnit, amount: 6_000, currency: 'USD', periods: 1, jitter: 0 },
      ...(consentTransactionId !== undefined && { consentTransactionId }),
      interval: { every: 1, unit: 'day' },
      // Over by now, so that it ends.
      anchor: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
      timeZone: 'UTC',
      billAt: '00:00',
      missedPeriods: 'billAll',
    });
    const subscription = stack.temporal.workflow.getHandle(subscriptionWorkflowId(reference));
    expect(await subscription.result()).toMatchObject({ status: 'completed', billedPeriods: 1 });

    const ledger = await stack.sandbox.ledger();
    const paymentIds = [stored.paymentId, (await stack.holdfast.status(`${reference}.1.1`)).paymentId];
    const found = paymentIds.map((id) => ledger.filter((entry) => entry.payment_id === id));
    expect(found.map((entries) => entries.map(({ kind, status }) => `${kind} ${status}`))).toEqual([
      ['authorization Succeed', 'void Succeed'],
      ['charge Succeed'],
    ]);
    const own = ledger.filter(({ reconciliation_id: id }) => id === input.reference || id?.startsWith(reference));
    expect(own.filter(({ payment_id: id }) => !paymentIds.includes(id))).toEqual([]);
  });
  expect((await stack.sandbox.faults()).filter(({ action, fired }) => action === 'drop_reply' && fired === 0)).toEqual(
    [],
  );
}, 120_000);

test('no flow is left open, no event parked, and no workflow task failed in any of this', async () => {
  // As long as a payment can't be read, an event about it alone can't find its flow.
  await stack.sandbox.clearFaults();
  await untilNoneIsOpen(stack.temporal);
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
