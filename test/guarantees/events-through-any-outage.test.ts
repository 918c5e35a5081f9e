import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../sandbox/control.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { flowProblems } from '../support/flow-health.js';
import { type Link, openLink } from '../support/link.js';
import { chargeOnlyEventsSettle, expectRightEnd } from '../support/settled-by-events.js';
import { eventsIn, eventsOfPayment } from '../support/signed-events.js';
import { startReadyProcess, type ReadyProcess } from '../../tools/stack/ready-process.js';
import { startStack, type TestStack } from '../support/stack.js';
import { fullOr } from '../support/counts.js';
import { temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';

const UPDATE = 'payment.charge.update';
const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-outage-'));

let link: Link;
let stack: TestStack;
let handler: ReadyProcess;
let startHandler: () => Promise<ReadyProcess>;
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
  handler = await startReadyProcess('dist/workers/webhook.js', { env });
  // Where the service sends to, whoever serves there.
  const { port } = new URL(handler.url);
  startHandler = () => startReadyProcess('dist/workers/webhook.js', { env: { ...env, HOLDFAST_WEBHOOK_PORT: port } });
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

test('Temporal away, the handler killed, the service sending again: afterwards every event has arrived once', async () => {
  const charges = await Promise.all(Array.from({ length: fullOr(10, 2) }, () => chargeOnlyEventsSettle(stack, false)));
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
    expect(await expectRightEnd(stack, input)).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
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
    expect(await expectRightEnd(stack, input)).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
  },
);

test('no event has failed or blocked a workflow', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
