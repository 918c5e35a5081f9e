import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../sandbox/control.js';
import { doubtUntil, lostKeysUntil } from '../../src/domain/lost-time.js';
import { ProviderClient } from '../../src/provider/index.js';
import { HOSTILE_UNITS, PLAIN_UNIT, type ProfileUnit, withRisk } from '../../tools/stack/profile-units.js';
import { CARDS, newReference } from '../support/charges.js';
import { dispatcherTo } from '../support/dispatcher-to.js';
import { type RestorableStack, startRestorable } from '../support/restorable-stack.js';
import type { TestStack } from '../support/stack.js';
import { dailyInput, subscriptionOn } from '../support/stack-subscriptions.js';
import { until } from '../support/until.js';

const HOUR = 3_600_000;
const LIMIT_MS = 300_000;
/** The service as documented, and one that checks a request before it looks whether it knows the key. */
const UNITS = [PLAIN_UNIT, ...HOSTILE_UNITS.filter(({ name }) => name === 'checks-before-keys')].map(withRisk);

let restorable: RestorableStack;
let stack: TestStack;
beforeAll(async () => {
  restorable = await startRestorable(UNITS);
  ({ stack } = restorable);
}, LIMIT_MS);
afterAll(async () => await restorable?.close());

const restoredTo = (from: number, to: number): Record<string, string> => ({
  HOLDFAST_RESTORED_TO: [from, to].map((at) => new Date(at).toISOString()).join(','),
});

/** Input of a payment over 60.00 USD at that unit. */
async function inputAt(unit: ProfileUnit, card: string = CARDS.succeeds) {
  const { token } = await stack.sandbox.tokenize({ cardNumber: card, publicKey: unit.publicKey });
  return {
    reference: newReference(),
    amount: 6_000,
    currency: 'USD',
    businessUnit: unit.name,
    paymentMethod: { type: 'tokenized' as const, token },
  };
}

const ledgerOf = async (reference: string): Promise<string[]> =>
  (await stack.sandbox.ledger())
    .filter(({ reconciliation_id: id }) => id === reference || id?.startsWith(`${reference}.`))
    .map(({ kind, status, amount }) => `${kind} ${status} ${amount}`);

/** A charge that another program has made and that pends. */
async function foreignPending(): Promise<{ paymentId: string; transactionId: string }> {
  const { appId, privateKey } = DEFAULT_UNIT;
  const unit = { appId, privateKey, apiVersion: '1.3.0' as const };
  const dispatcher = dispatcherTo(stack.sandboxUrl);
  const provider = new ProviderClient({ baseUrl: stack.sandboxUrl, environment: 'test', unit, dispatcher });
  const { token } = await stack.sandbox.tokenize(CARDS.pendsThenSucceeds);
  const keyed = () => ({ idempotencyKey: newReference('foreign') });
  const { data: payment } = await provider.createPayment({ amount: 6_000, currency: 'USD' }, keyed());
  const request = { paymentMethod: { type: 'tokenized' as const, token }, reconciliationId: newReference('foreign') };
  const { data } = await provider.createCharge(payment.id, request, keyed());
  return { paymentId: payment.id, transactionId: data.id };
}

/** What was asked for, and what the ledger must show of it whatever comes. */
interface Asked {
  line: { workflowType: string; input: { reference: string } };
  moved: readonly string[];
  status: string;
}

/** Flows of every kind at one unit. */
async function runOn(unit: ProfileUnit): Promise<Asked[]> {
  const asked: Asked[] = [];
  const note = (workflowType: string, input: { reference: string }, status: string, ...moved: string[]) =>
    void asked.push({ line: { workflowType, input }, moved, status });
  const api = stack.holdfast;

  const charged = await inputAt(unit);
  await api.charge(charged);
  note('charge', charged, 'succeeded', 'charge Succeed 6000');
  const declined = await inputAt(unit, CARDS.declines);
  await api.charge(declined);
  note('charge', declined, 'declined', 'charge Failed 6000');
  const pended = await inputAt(unit, CARDS.pendsThenSucceeds);
  await api.charge(pended);
  note('charge', pended, 'succeeded', 'charge Succeed 6000');

  const held = await inputAt(unit);
  await api.authorize(held);
  note('authorizeAndCapture', held, 'authorized', 'authorization Succeed 6000');
  const captured = { ...(await inputAt(unit)), captureMode: 'auto' as const };
  await api.authorize(captured);
  note('authorizeAndCapture', captured, 'captured', 'authorization Succeed 6000', 'capture Succeed 6000');
  const voided = await inputAt(unit);
  await api.authorize(voided);
  await api.void(voided.reference);
  note('authorizeAndCapture', voided, 'voided', 'authorization Succeed 6000', 'void Succeed 6000');

  const credited = await inputAt(unit);
  await api.credit(credited);
  note('credit', credited, 'succeeded', 'credit Succeed 6000');
  const stored = { ...(await inputAt(unit)), customer: { customerReference: newReference('customer') } };
  await api.storeCard(stored);
  note('storeCard', stored, 'stored', 'authorization Succeed 6000', 'void Succeed 6000');
  const analysed = await inputAt(unit);
  await api.analyseRisk(analysed);
  note('analyseRisk', analysed, 'approve');
  return asked;
}

test(
  'what ran on since the backup is done once, and everything that the file names has its answer',
  async () => {
    const [plain = PLAIN_UNIT] = UNITS;
    // Flows that the backup has, and that go on in the lost time.
    const hold = await inputAt(plain);
    expect(await stack.holdfast.authorize(hold)).toMatchObject({ status: 'authorized' });
    const sold = await inputAt(plain);
    const { paymentId } = await stack.holdfast.charge(sold);
    await stack.sandbox.settings({ pendingMs: 20_000 });
    const pending = await inputAt(plain, CARDS.pendsThenSucceeds);
    expect(await stack.holdfast.charge(pending)).toMatchObject({ status: 'pending' });
    const from = await restorable.backUp();

    await stack.sandbox.settings({ pendingMs: 1_000 });
    const asked = (await Promise.all(UNITS.map(runOn))).flat();
    const club = await dailyInput(stack, 0);
    await stack.holdfast.subscribe(club);
    await subscriptionOn(stack, club).billed(1);
    const foreign = { ...(await foreignPending()), kind: 'charge' as const, amount: 6_000, currency: 'USD' };
    await stack.holdfast.resolvePending(foreign);
    const capture = { commandId: 'shipment-1' };
    expect(await stack.holdfast.capture(hold.reference, capture)).toMatchObject({ status: 'succeeded' });
    const refund = { payment: sold.reference, amount: 5_500, reference: 'return-1' };
    const refunded = await stack.holdfast.refund(refund);
    expect(refunded).toMatchObject({ status: 'succeeded' });
    await until(
      () => ledgerOf(pending.reference),
      ([charge]) => charge === 'charge Succeed 6000',
      60_000,
    );
    // One is being charged when everything dies: the service acts after that.
    const underWay = await inputAt(plain);
    await stack.sandbox.addFault({
      action: 'delay',
      delay_ms: 3_000,
      method: 'POST',
      path: '*/charges',
      reconciliation_id: underWay.reference,
      times: 1,
    });
    stack.holdfast.charge(underWay).catch(() => undefined);
    await sleep(1_000);
    const lost = { from, until: await restorable.killAndRestore() };

    const order = restorable.write('order.jsonl', [
      ...asked.map(({ line }) => line),
      { workflowType: 'charge', input: underWay },
      { workflowType: 'subscription', input: club },
      { workflowType: 'resolvePending', input: foreign },
    ]);
    await stack.startWorker(restoredTo(lost.from, lost.until));
    const first = await restorable.redrive(order);
    expect(first.told).toHaveLength(asked.length + 3);
    // What pends is followed, and is asked for again by the same command.
    await until(
      async () => await restorable.redrive(order),
      ({ code }) => code === 0,
      120_000,
    );
    const told = new Map(
      (await restorable.redrive(order, '--report', restorable.pathOf('second.report'))).told.map((one) => [
        one.reference,
        one,
      ]),
    );
    expect([...told.values()].map(({ result }) => result)).toEqual([...told.values()].map(() => 'outcome'));
    for (const { line, moved, status } of asked) {
      const { reference } = line.input;
      expect({ reference, status: told.get(reference)?.outcome?.status }).toEqual({ reference, status });
      expect({ reference, moved: await ledgerOf(reference) }).toEqual({ reference, moved });
    }
    expect(await ledgerOf(underWay.reference)).toEqual(['charge Succeed 6000']);

    // What was asked for in the lost time of flows that the backup has is asked for again.
    // Seen as held a minute before, the hold is not read again, and the capture is found; else it is refused.
    const again = await stack.holdfast.capture(hold.reference, capture).catch(String);
    expect(typeof again === 'string' ? again : again.status).toMatch(/captured|succeeded/);
    expect(await stack.holdfast.refund(refund)).toMatchObject({ transactionId: refunded.transactionId });
    expect(await stack.holdfast.charge(pending, { waitFor: '30 seconds' })).toMatchObject({ status: 'succeeded' });
    await subscriptionOn(stack, club).billed(1);
    expect(await ledgerOf(hold.reference)).toEqual(['authorization Succeed 6000', 'capture Succeed 6000']);
    expect(await ledgerOf(pending.reference)).toEqual(['charge Succeed 6000']);
    expect(await ledgerOf(club.reference)).toEqual(['charge Succeed 6000']);
    const ofSold = (await stack.sandbox.ledger()).filter(({ payment_id }) => payment_id === paymentId);
    expect(ofSold.map(({ kind, amount }) => `${kind} ${amount}`)).toEqual(['charge 6000', 'refund 5500']);

    await theSameDayLater(
      lost,
      order,
      asked.map(({ line }) => line.input.reference),
    );
  },
  LIMIT_MS,
);

/** The same backup is put back once more, and the service has forgotten every key of the lost time. */
async function theSameDayLater(lost: { from: number; until: number }, order: string, references: string[]) {
  const everything = async (): Promise<string[]> =>
    (await stack.sandbox.ledger())
      .map(({ transaction_id, kind, status }) => `${transaction_id} ${kind} ${status}`)
      .toSorted();
  await restorable.killAndRestore();
  await stack.sandbox.advanceClock(25 * HOUR);
  const before = await everything();
  // Told in the clock of these processes, which is the machine's, all that was 21 hours ago.
  const longAgo = { from: lost.from - 21 * HOUR, until: lost.until - 21 * HOUR };
  expect(lostKeysUntil(longAgo)).toBeLessThan(Date.now());
  expect(doubtUntil(longAgo)).toBeGreaterThan(Date.now());
  const env = restoredTo(longAgo.from, longAgo.until);

  await expect(stack.startWorker(env)).rejects.toThrow(/nothing is billed from .*HOLDFAST_RESTORED_STATEMENT_FILE/);
  await stack.startWorker({ ...env, HOLDFAST_TASK_QUEUES: 'payments' });
  const payments = restorable.write(
    'payments.jsonl',
    readFileSync(order, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.includes('"subscription"'))
      .map((line) => JSON.parse(line) as object),
  );
  const refused = await restorable.redrive(payments, '--report', restorable.pathOf('third.report'));
  expect(refused).toMatchObject({ code: 1, told: [], err: expect.stringContaining('--statement') });
  expect(await everything()).toEqual(before);

  const rows = (await stack.sandbox.ledger()).filter(({ reconciliation_id: id }) => id !== null);
  const covers = [longAgo.from - HOUR, Date.now()].map((at) => new Date(at).toISOString()).join(',');
  const statement = restorable.write('statement.jsonl', [{ covers }, ...rows]);
  await stack.stopWorker();
  await stack.startWorker({ ...env, HOLDFAST_RESTORED_STATEMENT_FILE: statement });
  const [plain = PLAIN_UNIT] = UNITS;
  const fresh = await inputAt(plain);
  writeFileSync(order, `${JSON.stringify({ workflowType: 'charge', input: fresh })}\n`, { flag: 'a' });
  const { told } = await restorable.redrive(
    order,
    '--statement',
    statement,
    '--report',
    restorable.pathOf('fourth.report'),
  );
  const resultOf = new Map(told.map(({ reference, result }) => [reference, result]));
  expect(resultOf.get(fresh.reference)).toBe('outcome');
  for (const reference of references) {
    const moved = await ledgerOf(reference);
    // A risk analysis moves no money, and is asked for again.
    if (moved.length === 0) continue;
    const wanted = moved.join() === 'charge Failed 6000' ? 'declined' : 'hasMoney';
    expect({ reference, result: resultOf.get(reference) }).toEqual({ reference, result: wanted });
  }
  expect(await ledgerOf(fresh.reference)).toEqual(['charge Succeed 6000']);
  const after = (await everything()).filter((row) => !before.includes(row));
  expect(after).toEqual([expect.stringContaining('charge Succeed')]);
}
