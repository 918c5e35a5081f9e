import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DemoContext } from '../../tools/demo/context.js';
import { succeeds, webhook } from '../../tools/demo/flows.js';
import { businessUnitsSetting, PLAIN_UNIT, withRisk } from '../../tools/stack/profile-units.js';
import { AMOUNT, CURRENCY, type DemoStep, SUCCEEDS } from '../../tools/demo/demo-step.js';
import { runDemo } from '../../tools/demo/index.js';
import { hintsOf } from '../../tools/demo/output.js';
import { type FlowReport, runFlow } from '../../tools/demo/run-flow.js';
import { FLOW_NAMES } from '../../tools/demo/merchant.js';
import { openDemoStack } from '../../tools/demo/demo-stack.js';
import { loadConfig } from '../../src/config/index.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { serviceOf } from '../support/service.js';
import { startStack, type TestStack } from '../support/stack.js';
import { temporalAddress } from '../support/temporal.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const NEVER = new AbortController().signal;

const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
let stack: TestStack;
let temporal: string;
beforeAll(async () => {
  // Short enough that the first poll, after 5 s, already finds the answer.
  const workerEnv = { HOLDFAST_BUSINESS_UNITS: businessUnitsSetting([withRisk(PLAIN_UNIT)]) };
  temporal = await temporalAddress();
  stack = await startStack({ pendingMs: 2_000, workerEnv, real: true });
});
afterAll(async () => {
  await stack?.close();
  rmSync(stateDir, { recursive: true, force: true });
});

function contextOf(lines: string[], overrides: Partial<DemoContext> = {}): DemoContext {
  return {
    temporal: { address: temporal, namespace: stack.namespace, uiUrl: 'http://ui.test' },
    sandbox: { url: stack.sandboxUrl },
    webhook: { url: new URL(stack.webhookUrl).origin, endpoint: stack.webhookUrl },
    codec: { url: 'http://codec.test' },
    console: { url: 'http://console.test' },
    stateDir,
    env: {
      HOLDFAST_API_BASE_URL: stack.sandboxUrl,
      HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
      HOLDFAST_BUSINESS_UNITS: JSON.stringify({
        default: { appId: 'holdfast-sandbox', privateKey: 'sandbox-private-key' },
      }),
    },
    worker: { kill: () => stack.worker().kill(), start: () => stack.startWorker() },
    print: (line) => void lines.push(line),
    signal: NEVER,
    ...overrides,
  };
}

const HOLD_OF_RACE = 'authorization 6500';

/** What has succeeded in the ledger of the stack's own sandbox, by the name of the demo's flow. */
async function movedByFlow(): Promise<Record<string, string[]>> {
  const names = new Map<string, string>();
  const moved: Record<string, string[]> = {};
  for (const { payment_id: payment, reconciliation_id: id, kind, status, amount } of await stack.sandbox.ledger()) {
    const name = names.get(payment) ?? id?.replace(/^demo-[0-9a-z]+-/, '') ?? '';
    names.set(payment, name);
    (moved[name] ??= []).push(...(status === 'Succeed' ? [`${kind} ${amount}`] : []));
  }
  return moved;
}

test('The demo shows every flow, moves money once at most in each, and touches only faults of its own', async () => {
  const foreign = await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: 'order-of-somebody-else' });
  for (const leftOver of ['demo-mwq4hmvc-webhook-lost', 'demo-mwq4hmvc-refund-1']) {
    await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: leftOver });
  }
  const lines: string[] = [];

  expect(await runDemo(contextOf(lines))).toEqual({ problems: [] });

  const links = lines.filter((line) => line.trim().startsWith('http://ui.test/namespaces/'));
  expect(new Set(links).size).toBe(FLOW_NAMES.length);
  const { race = [], ...moved } = await movedByFlow();
  expect(moved).toEqual({
    succeeds: ['charge 1095'],
    declined: [],
    'reply-lost': ['charge 1095'],
    'part-captured': ['authorization 12000', 'capture 8000'],
    refund: ['charge 10000', 'refund 4500', 'refund 4500'],
    review: ['charge 25000'],
    credit: ['credit 7500'],
    card: ['authorization 6000', 'void 6000'],
    'card-1': ['charge 1095'],
    reauthorized: ['authorization 12500', 'void 12500', 'authorization 12500', 'capture 12500'],
    'worker-killed': ['charge 1095'],
    webhook: ['charge 1095'],
    'webhook-lost': ['charge 1095'],
  });
  expect([
    [HOLD_OF_RACE, 'capture 6500'],
    [HOLD_OF_RACE, 'void 6500'],
  ]).toContainEqual(race);
  expect((await stack.sandbox.faults()).map(({ id }) => id)).toEqual([foreign.id]);
  await stack.sandbox.removeFault(foreign.id);

  const text = lines.join('\n').replaceAll(/\s+/g, ' ');
  expect(text).toContain('payment_method_declined/insufficient_funds');
  expect(text).toContain('45.00 USD is more than the 10.00 USD left to refund');
  // By the clocks of flow and sandbox, or the demo would have found a problem.
  expect(text.match(/TIME JUMPED/g)).toHaveLength(2);
  expect(text).toContain('an authorization of 95.00 USD and a void of 95.00 USD');
  expect(text).toMatch(/past due since .* at 10:00 Europe\/Rome; next try .* with card \*{4} 1111; attempt 2 of 4/);
  expect(text).toMatch(
    /the buyer cancels \S+ s the merchant's address was told, each signature verified: billed, declined, billed, billed, ended \S+ s cancelled: 3 periods billed/,
  );
  expect(text).not.toMatch(/\d{13,16}|sandbox-private-key/);
}, 90_000);

test('Time is not jumped while a webhook is still to be delivered', async () => {
  const context = contextOf([]);
  const demo = await openDemoStack(context, loadConfig(context.env), NEVER);
  try {
    const world = await demo.embedded();
    const pending = () => world.sandbox.deliveries({ status: 'pending' });
    await world.sandbox.addFault({ action: 'delay_event', delay_ms: 1_000 });
    const reference = 'demo-of-a-late-webhook';
    const paymentMethod = { type: 'tokenized' as const, token: await world.tokenize(SUCCEEDS) };
    const { businessUnit } = world;
    await world.holdfast.authorize({ reference, amount: 6_000, currency: 'USD', businessUnit, paymentMethod });
    expect((await pending()).length).toBeGreaterThan(0);

    const before = Date.now();
    const ms = await world.jumpTo(`payment-${reference}`, before + 3_600_000);

    expect(await pending()).toEqual([]);
    const all = await world.sandbox.deliveries();
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 'delivered'));
    expect(ms).toBeGreaterThan(3_000_000);
    expect(Date.parse((await world.sandbox.health()).now)).toBeGreaterThanOrEqual(before + ms);
    await world.temporal.workflow.getHandle(`payment-${reference}`).terminate();
  } finally {
    await demo.close();
  }
}, 90_000);

test('The demo says in one sentence which flow did not end as it should', async () => {
  const fault = await stack.sandbox.addFault({
    action: 'result',
    reconciliation_id: 'demo-*-succeeds',
    status: 'Failed',
    category: 'payment_method_declined',
  });
  const context = contextOf([]);
  const demo = await openDemoStack(context, loadConfig(context.env), NEVER);
  try {
    const { reference, problems } = await runFlow(demo, succeeds);
    expect(problems).toEqual([
      `${reference}: it ended declined, not succeeded.`,
      `${reference}: the ledger shows no movement of money where a charge of 10.95 USD must be.`,
    ]);
  } finally {
    await demo.close();
    await stack.sandbox.removeFault(fault.id);
  }
});

test('The demo finds money that moved under a reference that it does not expect, also after the end of its flow', async () => {
  const context = contextOf([]);
  const demo = await openDemoStack(context, loadConfig(context.env), NEVER);
  try {
    const service = serviceOf(stack);
    /** What a fault of Holdfast would do: nobody has asked for it. */
    const chargeToo = async (reference: string): Promise<void> => {
      const { token } = await stack.sandbox.tokenize(SUCCEEDS);
      const { id } = await service.post('/payments', { amount: AMOUNT, currency: CURRENCY });
      const payment = { payment_method: { type: 'tokenized', token }, reconciliation_id: reference };
      await service.post(`/payments/${id}/charges`, payment);
    };
    const twice =
      'the ledger shows a charge of 10.95 USD and a charge of 10.95 USD where a charge of 10.95 USD must be.';
    const first = await runFlow(demo, succeeds);
    await chargeToo(`${first.reference}x-9`);
    expect([first.problems, (await first.readAgain()).problems]).toEqual([[], []]);
    await chargeToo(`${first.reference}-9`);
    expect((await first.readAgain()).problems).toEqual([`${first.reference}: ${twice}`]);

    const run = async (step: DemoStep) => {
      await chargeToo(`${step.reference}.9.9`);
      // Another flow, whose name begins alike.
      await chargeToo(`${step.reference}-lost`);
      return await succeeds.run(step);
    };
    const { reference, problems } = await runFlow(demo, { ...webhook, expected: succeeds.expected, run });
    expect(problems).toEqual([`${reference}: ${twice}`]);
  } finally {
    await demo.close();
  }
});

test('The commands that the demo prints can be run where its paths have spaces and quotes', () => {
  const folder = join(temporaryFolder(), "an 'own' folder");
  mkdirSync(join(folder, 'keys'), { recursive: true });
  writeFileSync(join(folder, 'keys', 'codec-token'), 'token');
  for (const [name, text] of [
    ['temporal', `printf '%s|' "$@"`],
    ['npx', `printf '%s|' "$HOLDFAST_STATE_DIR" "$@"`],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const context = contextOf([], { stateDir: folder });
  const temporal = { ...context.temporal, cliPath: join(folder, 'temporal') };
  const report = { name: 'succeeds', reference: 'demo-1-succeeds' } as FlowReport;
  const lines = hintsOf({ ...context, temporal }, [report]);
  const printedBy = (command: string): string =>
    execFileSync('sh', ['-c', command], { env: { PATH: `${folder}:${process.env['PATH']}` }, encoding: 'utf8' });
  const list = lines.find((line) => line.endsWith('npx holdfast list'))?.replace(/^.*: +/, '') ?? '';
  expect(printedBy(list)).toBe(`${folder}|holdfast|list|`);
  const query = lines.slice(lines.findIndex((line) => line.includes('workflow query'))).join('\n');
  expect(printedBy(query)).toContain('|--workflow-id|payment-demo-1-succeeds|');
  expect(printedBy(query)).toContain('|--codec-auth|Bearer token|');
});

test('The demo sends nothing to a payment service that is not its own sandbox', async () => {
  const lines: string[] = [];
  const context = contextOf(lines);
  const env = { ...context.env, HOLDFAST_API_BASE_URL: 'https://api.example.com' };
  const before = await stack.sandbox.ledger();

  const { problems } = await runDemo({ ...context, env });

  expect(problems).toEqual([expect.stringContaining('https://api.example.com')]);
  expect(lines).toEqual([]);
  expect(await stack.sandbox.ledger()).toHaveLength(before.length);
});

test('A demo that is interrupted takes its faults back and starts no worker any more', async () => {
  const interruption = new AbortController();
  const lines: string[] = [];
  let killed = false;
  let started = false;
  const worker = {
    kill: async () => {
      await stack.worker().kill();
      killed = true;
    },
    start: async () => {
      started = true;
    },
  };
  const demo = runDemo(contextOf(lines, { signal: interruption.signal, worker }));
  await until(async () => killed, Boolean);
  const delayed = (await stack.sandbox.faults()).find(({ action }) => action === 'delay');
  expect(delayed?.reconciliation_id).toMatch(/^demo-.*-worker-killed$/);

  interruption.abort();
  await demo;

  expect(await stack.sandbox.faults()).toEqual([]);
  expect(started).toBe(false);
  expect(lines.join('\n')).not.toContain('Where to look next');
  // Its caller would otherwise wait for a worker until long after this test.
  await stack.temporal.workflow.getHandle(`payment-${delayed?.reconciliation_id}`).terminate();
});
