import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DemoContext } from '../../scripts/demo/context.js';
import { succeeds } from '../../scripts/demo/flows.js';
import { runDemo } from '../../scripts/demo/index.js';
import { play } from '../../scripts/demo/play.js';
import { openStage } from '../../scripts/demo/stage.js';
import { loadConfig } from '../../src/config.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import type { TestStack } from '../support/stack.js';
import { startStack } from '../support/stack.js';
import { temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';

const NEVER = new AbortController().signal;

let stack: TestStack;
beforeAll(async () => {
  // Short enough that the first poll, after 5 s, already finds the answer.
  stack = await startStack({ pendingMs: 2_000 });
});
afterAll(async () => {
  await stack?.close();
});

function contextOf(lines: string[], overrides: Partial<DemoContext> = {}): DemoContext {
  return {
    temporal: { address: temporalAddress(), namespace: stack.namespace, uiUrl: 'http://ui.test' },
    sandbox: { url: stack.sandboxUrl },
    webhook: { url: new URL(stack.webhookUrl).origin, endpoint: stack.webhookUrl },
    codec: { url: 'http://codec.test' },
    stateDir: '/state',
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

test('The demo shows six flows, moves money once at most in each, and touches only faults of its own', async () => {
  const foreign = await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: 'order-of-somebody-else' });
  const leftOver = { action: 'lose_event', reconciliation_id: 'demo-mwq4hmvc-webhook-lost' } as const;
  await stack.sandbox.addFault(leftOver);
  const lines: string[] = [];

  expect(await runDemo(contextOf(lines))).toEqual({ problems: [] });

  const links = lines.filter((line) => line.trim().startsWith('http://ui.test/namespaces/'));
  const references = links.map((link) => link.split('/workflows/payment-')[1] ?? '');
  expect(new Set(references).size).toBe(6);
  const moved = await Promise.all(
    references.map(async (reference) =>
      (await stack.sandbox.ledger(reference)).map(({ status, amount }) => `${status} ${amount}`),
    ),
  );
  expect(moved).toEqual([
    ['Succeed 1095'],
    ['Failed 1095'],
    ['Succeed 1095'],
    ['Succeed 1095'],
    ['Succeed 1095'],
    ['Succeed 1095'],
  ]);
  expect((await stack.sandbox.faults()).map(({ id }) => id)).toEqual([foreign.id]);
  await stack.sandbox.removeFault(foreign.id);

  expect(lines.join('\n')).toContain('payment_method_declined/insufficient_funds');
  expect(lines.join('\n')).not.toMatch(/\d{13,16}|sandbox-private-key/);
}, 90_000);

test('The demo says in one sentence which flow did not end as it should', async () => {
  const fault = await stack.sandbox.addFault({
    action: 'result',
    reconciliation_id: 'demo-*-succeeds',
    status: 'Failed',
    category: 'payment_method_declined',
  });
  const context = contextOf([]);
  const stage = await openStage(context, loadConfig(context.env), NEVER);
  try {
    const { reference, problems } = await play(stage, succeeds);
    expect(problems).toEqual([
      `${reference}: it ended declined, not succeeded.`,
      `${reference}: the ledger shows 0 movements of money where 1 must be.`,
    ]);
  } finally {
    await stage.holdfast.close();
    await stack.sandbox.removeFault(fault.id);
  }
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
