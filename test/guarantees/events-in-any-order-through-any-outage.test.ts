import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import fc from 'fast-check';
import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import { DEFAULT_UNIT } from '../../src/sandbox/control.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { flowProblems } from '../support/flow-health.js';
import { differencesFromLedger } from '../support/ledger-check.js';
import type { Link } from '../support/link.js';
import { openLink } from '../support/link.js';
import { authorizeInput, movements } from '../support/payments.js';
import { eventBody, eventsIn, eventsOfPayment, postEvent } from '../support/signed-events.js';
import type { Spawned } from '../support/spawned.js';
import { spawnProcess } from '../support/spawned.js';
import type { TestStack } from '../support/stack.js';
import { startStack } from '../support/stack.js';
import { fullOr } from '../support/storm.js';
import { temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';

const UPDATE = 'payment.charge.update';
const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-outage-'));

let link: Link;
let stack: TestStack;
let handler: Spawned;
let startHandler: () => Promise<Spawned>;
let url: string;
beforeAll(async () => {
  link = await openLink(await temporalAddress());
  stack = await startStack({ real: true, webhook: false, pendingMs: 600_000 });
  const env = {
    HOLDFAST_STATE_DIR: stateDir,
    HOLDFAST_LOG_LEVEL: 'error',
    HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
    HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { ...DEFAULT_UNIT, legacyWebhooks: true } }),
    HOLDFAST_WEBHOOK_PORT: '0',
    HOLDFAST_WEBHOOK_METRICS_PORT: '0',
    HOLDFAST_API_BASE_URL: stack.sandboxUrl,
    TEMPORAL_ADDRESS: link.address,
    TEMPORAL_NAMESPACE: stack.namespace,
  };
  handler = await spawnProcess('dist/workers/webhook.js', env);
  // Where the service sends to, whoever serves there.
  const { port } = new URL(handler.url);
  startHandler = () => spawnProcess('dist/workers/webhook.js', { ...env, HOLDFAST_WEBHOOK_PORT: port });
  url = new URL('/webhooks', handler.url).href;
  await stack.sandbox.addWebhookEndpoint({ url, events: ['payment.charge.*'] });
  await stack.sandbox.settings({ resendFirstMs: 200 });
});
afterAll(async () => {
  await handler?.stop();
  await stack?.close();
  link?.cut();
  rmSync(stateDir, { recursive: true, force: true });
});

/** A charge that pends, and that only an event can settle: reads of it fail until the fault is removed. */
async function pendingCharge(eventsAreLost: boolean) {
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  const { reference } = input;
  const { sandbox } = stack;
  if (eventsAreLost) await sandbox.addFault({ action: 'lose_event', reconciliation_id: reference });
  const path = '/payments/*/charges*';
  await sandbox.addFault({ action: 'status', method: 'GET', path, status: 503, reconciliation_id: reference });
  const pending = await stack.holdfast.charge(input);
  if (pending.status !== 'pending') throw new Error(`the charge is ${pending.status}`);
  return { input, paymentId: pending.paymentId ?? '', transactionId: pending.transactionId ?? '' };
}

type Posted = { eventType: string; body: unknown };

/** Each of them any number of times, lies between them, and the genuine ones at least once: the end is known by them. */
async function postInAnyOrder(genuine: readonly Posted[], strangers: readonly Posted[], seed: number): Promise<void> {
  expect(genuine.length).toBeGreaterThan(1);
  const pool = [...genuine, ...strangers];
  const [order = []] = fc.sample(fc.array(fc.constantFrom(...pool), { minLength: 8, maxLength: 20 }), {
    numRuns: 1,
    seed,
  });
  for (const { eventType, body } of [...order, ...genuine.toReversed()]) {
    expect((await postEvent(url, eventType, body)).status).toBe(200);
  }
}

async function expectRightEnd(input: ChargeInput): Promise<ChargeOutcome> {
  const { outcome } = await until(
    () => stack.holdfast.status(input.reference),
    (status) => status.outcome !== undefined,
  );
  const answer = outcome as ChargeOutcome;
  const ledger = await stack.sandbox.ledger(input.reference);
  expect(differencesFromLedger([{ input, answer }], ledger)).toEqual([]);
  expect(ledger).toHaveLength(1);
  return answer;
}

test('events in any order, with any repetition and lies between them, end a charge as the service did', async () => {
  const ends: readonly { status: 'Succeed' | 'Failed'; category?: string }[] = [
    { status: 'Succeed' },
    { status: 'Failed', category: 'payment_method_declined' },
  ];
  for (let round = 0; round < fullOr(40, 2); round += 1) {
    const end = ends[round % ends.length] ?? { status: 'Succeed' };
    const { input, paymentId, transactionId } = await pendingCharge(true);
    await stack.sandbox.complete(transactionId, end);
    const genuine = await eventsOfPayment(stack.sandbox, paymentId);
    const wrong = end.status === 'Succeed' ? 'Failed' : 'Succeed';
    const said = { reconciliationId: input.reference, status: wrong, amount: 1095, currency: 'USD' };
    const strangers = [{ transactionId }, { paymentId }].map((parts) => ({
      eventType: UPDATE,
      body: eventBody({ ...said, ...parts }),
    }));
    await postInAnyOrder(genuine, strangers, round + 1);
    const answer = await expectRightEnd(input);
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
  await sandbox.addWebhookEndpoint({ url, events: ['payment.authorization.*', 'payment.capture.*'] });
  for (let round = 0; round < fullOr(20, 1); round += 1) {
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

test('Temporal away, the handler killed, the service sending again: afterwards every event has arrived once', async () => {
  const charges = await Promise.all(Array.from({ length: fullOr(20, 2) }, () => pendingCharge(false)));
  link.cut();
  for (const { transactionId } of charges) await stack.sandbox.complete(transactionId, { status: 'Succeed' });
  for (const { input } of charges) {
    await until(
      () => stack.sandbox.deliveries({ reconciliationId: input.reference, eventType: UPDATE }),
      // At full counts the service has come to its longer pauses by then.
      ([update]) => update?.last_status === 503 && update.attempts >= fullOr(8, 1),
      120_000,
    );
  }
  await handler.kill();
  await link.mend();
  handler = await startHandler();

  for (const { input, paymentId } of charges) {
    const events = await until(
      () => eventsOfPayment(stack.sandbox, paymentId),
      (all) => all.every(({ status }) => status === 'delivered'),
      120_000,
    );
    expect(await expectRightEnd(input)).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    const taken = await eventsIn(stack.temporal, `payment-${input.reference}`);
    expect(new Set(taken).size).toBe(taken.length);
    // What came after the end was compared with it instead; this one made the end.
    const [update] = events.filter(({ eventType }) => eventType === UPDATE);
    expect(taken).toContain(update?.hash);
  }
}, 300_000);

test.each(['1.0.0', '1.0.1'] as const)(
  'an unsigned event (%s) makes its flow look, and so ends it',
  async (version) => {
    const { sandbox } = stack;
    for (const { id } of await sandbox.webhookEndpoints()) await sandbox.removeWebhookEndpoint(id);
    await sandbox.addWebhookEndpoint({ url, version, events: [UPDATE] });
    const input = await chargeInput(sandbox, CARDS.pendsThenSucceeds);
    const pending = await stack.holdfast.charge(input);
    await sandbox.complete(pending.transactionId ?? '', { status: 'Succeed' });
    expect(await expectRightEnd(input)).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
  },
);

test('no event has failed or blocked a workflow', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
