import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Restored } from '../../activities/index.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import { parseStatement } from '../../src/domain/statement.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { callsFor, CAPTURED } from './calls.js';
import { Prepared } from './prepared.js';
import {
  Harness,
  HOUR,
  ORIGINAL_RUN_ID,
  paymentCall,
  type ReadyCharge,
  Service,
  type Surroundings,
} from './support.js';

let service: Service;
let harness: Harness;
/** An hour that has just been lost. */
const lost = { from: Date.now() - HOUR, until: Date.now() - 60_000 };
const DAY = 24 * HOUR;
const open: Harness[] = [];

function after(restored: Restored, around: Partial<Surroundings> = {}): Harness {
  const made = new Harness({ baseUrl: service.sandbox.url, restored, ...around });
  open.push(made);
  return made;
}
/** What the service says it has done, from well before the backup until now. */
async function statement(reference: string): Promise<Restored['statement']> {
  const rows = (await service.sandbox.control.ledger(reference)).map((entry) => JSON.stringify(entry));
  const covers = [lost.from - DAY, Date.now()].map((at) => new Date(at).toISOString()).join(',');
  const parsed = parseStatement([JSON.stringify({ covers }), ...rows].join('\n'), Date.now());
  if ('faults' in parsed) throw new Error(parsed.faults.join('\n'));
  return parsed.statement;
}

beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());
beforeEach(() => {
  harness = after({ lost });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  await service.sandbox.control.clearFaults();
});

/** What a run did that the restore has lost. */
async function chargedBefore(charge: ReadyCharge): Promise<string> {
  const earlier = new Harness({ baseUrl: service.sandbox.url });
  open.push(earlier);
  return (await earlier.run('createCharge', charge.call)).transactionId;
}

describe('a charge after a restore', () => {
  test('adopts what a lost run did, whether the service still knows the key or not', async () => {
    const charge = await service.readyCharge();
    const transactionId = await chargedBefore(charge);
    await service.sandbox.control.advanceClock(25 * HOUR);
    expect(await harness.run('createCharge', charge.call)).toMatchObject({ transactionId, status: 'Succeed' });
    expect(harness.requests).toEqual([`GET /payments/${charge.paymentId}/charges`]);
    expect(await service.ledger(charge)).toHaveLength(1);
  });

  test('is sent only after a read, and its refusal is not believed', async () => {
    const charge = await service.readyCharge();
    await service.plant(charge, { action: 'status', status: 400 });
    expect(await harness.fail('createCharge', charge.call)).toMatchObject({
      type: 'OutcomeUnknown',
      details: { mayHaveLeft: true, httpStatus: 400 },
    });
    const path = `/payments/${charge.paymentId}/charges`;
    expect(harness.requests).toEqual([`GET ${path}`, `POST ${path}`]);
  });

  test('is neither tried locally nor sent while the read fails', async () => {
    const charge = await service.readyCharge();
    const local = await harness.fail('createCharge', charge.call, { isLocal: true });
    expect(local).toMatchObject({ type: 'ProviderUnavailable', details: { mayHaveLeft: true } });
    expect(harness.requests).toEqual([]);
    await service.sandbox.control.addFault({ action: 'status', status: 503, method: 'GET', path: '*' });
    const failed = await harness.fail('createCharge', charge.call);
    expect(failed).toMatchObject({ type: 'ProviderUnavailable', retryable: true });
    expect(failed.message).toContain('restored from a backup');
    expect(harness.posts()).toEqual([]);
  });

  test.each([
    ['began before the service had forgotten the last key', lost.until + DAY - 1, 'GET'],
    ['is so old that its first run is no longer kept', undefined, 'GET'],
    ['began later', lost.until + DAY, 'POST'],
  ])('reads first, for as long as the restore is configured, if its flow %s', async (_when, startedAt, first) => {
    const charge = await service.readyCharge();
    const engine = { startedAt: () => Promise.resolve(startedAt) };
    const now = (): number => lost.until + 3 * DAY;
    const late = after({ lost }, { engine, now });
    await late.run('createCharge', { ...charge.call, postUntil: now() + HOUR });
    expect(late.requests[0]).toMatch(first);
  });

  test('is not sent while the engine can not say when its flow began', async () => {
    const charge = await service.readyCharge();
    const engine = { startedAt: () => Promise.reject(new Error('the engine is away')) };
    const late = after({ lost }, { engine, now: () => lost.until + DAY });
    const call = { ...charge.call, postUntil: lost.until + 2 * DAY };
    expect(await late.fail('createCharge', call)).toMatchObject({ type: 'ProviderUnavailable', retryable: true });
    expect(late.requests).toEqual([]);
  });

  test.each([
    ['while the service knows every key of the lost time', 0, ['POST']],
    ['and not once it may have forgotten one', 20 * HOUR, []],
  ])('where no list is offered is sent under its key %s', async (_when, later, sent) => {
    const charge = await service.readyCharge();
    const now = (): number => lost.from + HOUR + later;
    const blind = after({ lost }, { onlyNamedReads: true, now });
    const asked = blind.run('createCharge', { ...charge.call, postUntil: now() + HOUR });
    if (sent.length === 0) await expect(asked).rejects.toMatchObject({ type: 'OutcomeUnknown' });
    else await asked;
    expect(blind.posts().map((post) => post.slice(0, 4))).toEqual(sent);
  });

  test('where no list is offered is not sent by a run that a reset has made as well, though every key is known', async () => {
    const charge = await service.readyCharge({ originalRunId: ORIGINAL_RUN_ID });
    const blind = after({ lost }, { onlyNamedReads: true });
    expect(await blind.fail('createCharge', charge.call)).toMatchObject({
      type: 'OutcomeUnknown',
      details: { windowClosed: true, mayHaveLeft: true },
    });
    expect(blind.posts()).toEqual([]);
  });

  test('on a payment of the statement is adopted however late it is asked for', async () => {
    const charge = await service.readyCharge();
    const transactionId = await chargedBefore(charge);
    const engine = { startedAt: () => Promise.resolve(lost.until + 3 * DAY) };
    const late = after(
      { lost, statement: await statement(charge.reference) },
      { engine, now: () => lost.until + 4 * DAY },
    );
    const call = { ...charge.call, postUntil: lost.until + 5 * DAY };
    expect(await late.run('createCharge', call)).toMatchObject({ transactionId });
    expect(late.posts()).toEqual([]);
  });
});

for (const name of ['createAuthorization', 'createRefund', 'createCredit'] as const)
  atFullCounts(`${name} after a restore adopts what a lost run did after the key is forgotten`, async () => {
    const prepared = new Prepared(service.sandbox, '1.3.0');
    const call = callsFor(await prepared.for(name), `restored-${name}`)[name];
    const before = new Harness({ baseUrl: service.sandbox.url });
    open.push(before);
    const earlier = await before.run(name, call);
    await service.sandbox.control.advanceClock(25 * HOUR);
    expect(await harness.run(name, call)).toMatchObject({ transactionId: earlier.transactionId });
    expect(harness.posts()).toEqual([]);
    await prepared.close();
  });

test('a capture after a restore is sent beside a failed one of others, where the service echoes nothing', async () => {
  const { sandbox } = service;
  const profile = { echo_additional_details: false, echo_reconciliation_id: false };
  const unit = await sandbox.control.putBusinessUnit({ app_id: 'silent', profile });
  const credentials = { appId: unit.app_id, privateKey: unit.private_key, publicKey: unit.public_key };
  // The engine is complete but for the lost time: what that run has sent, it can not say.
  const engine = { sentBefore: async () => ({ firstSent: {}, commands: {}, cancelled: false, isKept: false }) };
  const silent = after({ lost }, { unit: credentials, engine });
  const before = new Harness({ baseUrl: sandbox.url, unit: credentials });
  const prepared = new Prepared(sandbox, '1.3.0', credentials);
  open.push(before);
  const call = callsFor(await prepared.for('createCapture')).createCapture;
  const other = await before.run('createCapture', { ...call, key: 'a', capture: { amount: 1_000 } });
  expect(other.status).toBe('Failed');
  const own = await silent.run('createCapture', call);
  expect(own).toMatchObject({ status: 'Succeed', amount: CAPTURED });
  expect(own.transactionId).not.toBe(other.transactionId);
  await prepared.close();
});

const keyOfPayment = (sequence: number): string => idempotencyKey('payment-order-1001', 'createPayment', sequence);

/** Otherwise only reads, or a person, can tell what became of it. */
async function expectPayment(late: Harness, how: Parameters<typeof paymentCall>[0], posts: number): Promise<void> {
  if (posts === 1) await late.run('createPayment', paymentCall(how));
  else
    expect(await late.fail('createPayment', paymentCall(how))).toMatchObject({
      type: 'OutcomeUnknown',
      details: { windowClosed: true, mayHaveLeft: true },
    });
  expect(late.posts()).toHaveLength(posts);
}

describe('a payment after a restore', () => {
  test('is asked for again under its key until the first key of the lost time may be forgotten', async () => {
    expect(await harness.run('createPayment', paymentCall())).toMatchObject({ status: 'Initialized' });
    const border = lost.from + 20 * HOUR;
    for (const [now, postUntil, posts] of [
      // Begun before that, it may have been made in the lost time.
      [border - 1, border + HOUR, 1],
      [border, border + HOUR, 0],
      // Begun later it counts as new.
      [border + HOUR, border + 20 * HOUR, 1],
    ] as const) {
      const late = after({ lost }, { now: () => now });
      await expectPayment(late, { key: keyOfPayment(1), postUntil }, posts);
    }
  });

  test.each([
    ['if a read has shown the hold before it as held since', { heldAt: lost.until }, 0, 1],
    ['if its flow began when no key of that time was known any more', {}, lost.until + DAY, 1],
    ['not if that hold was last seen held before', { heldAt: lost.until - 1 }, 0, 0],
    ['not if that hold was never seen held', {}, 0, 0],
  ])('for the next hold is asked for in a window of its own %s', async (_when, seen, startedAt, posts) => {
    const now = lost.from + 30 * HOUR;
    const late = after({ lost }, { now: () => now, engine: { startedAt: () => Promise.resolve(startedAt) } });
    await expectPayment(late, { key: keyOfPayment(2), postUntil: now + 20 * HOUR, ...seen }, posts);
  });

  test('is the one that the statement names, and several are ambiguous', async () => {
    const charge = await service.readyCharge();
    await chargedBefore(charge);
    const workflowId = `payment-${charge.reference}`;
    const key = idempotencyKey(workflowId, 'createPayment', 1);
    const engine = { earlierPayment: () => Promise.resolve(undefined) };
    const told = after({ lost, statement: await statement(charge.reference) }, { engine });
    const payment = { paymentId: charge.paymentId, amount: 1095, currency: 'USD', status: 'unknown' };
    expect(await told.run('createPayment', paymentCall({ key }), { workflowId })).toEqual(payment);
    expect(await told.run('findEarlierPayment', undefined as never, { workflowId })).toEqual(payment);
    // The next payment of the flow is another one.
    const second = idempotencyKey(workflowId, 'createPayment', 2);
    expect(await told.run('findEarlierPayment', second as never, { workflowId })).toBeUndefined();
    expect(told.requests).toEqual([]);

    const twice = await service.readyCharge({ reconciliationId: charge.reference });
    await chargedBefore(twice);
    const unsure = after({ lost, statement: await statement(charge.reference) }, { engine });
    const failed = await unsure.fail('createPayment', paymentCall({ key }), { workflowId });
    expect(failed).toMatchObject({ type: 'OutcomeUnknown', details: { windowClosed: true } });
    expect(failed.message).toContain(twice.paymentId);
    expect(await unsure.run('findEarlierPayment', undefined as never, { workflowId })).toBeUndefined();
    expect(unsure.requests).toEqual([]);
  });

  test('of a flow whose tasks may be lost is never said to be the first', async () => {
    const engine = { taskWasLost: () => Promise.resolve(false), startedAt: () => Promise.resolve(lost.until + DAY) };
    expect(await harness.run('taskWasLost', undefined as never)).toBe(true);
    const late = after({ lost }, { engine, now: () => lost.until + 2 * DAY });
    expect(await late.run('taskWasLost', undefined as never)).toBe(false);
  });
});
