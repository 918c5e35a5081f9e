import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { startReadyProcess, type ReadyProcess } from '../../tools/stack/ready-process.js';
import { environmentOf } from '../../tools/stack/services.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { chargeInput } from '../support/charges.js';
import { fullOr } from '../support/counts.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { startStack, type TestStack } from '../support/stack.js';
import { temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';

const OTHERS = 100;
const SLOW_MS = 1_500;
const FAULT = 'for (;;) {}';

/** The worker program, built, with a `listCards` that never comes back. */
function programWithALoop(): string {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-loop-'));
  cpSync('dist', join(dir, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(process.cwd(), name), join(dir, name));
  const path = join(dir, 'dist', 'workflow-bundle.js');
  const bundle = readFileSync(path, 'utf8');
  const head = 'async function listCards(raw) {';
  if (bundle.split(head).length !== 2) throw new Error(`${path} has not exactly one "${head}"`);
  writeFileSync(path, bundle.replace(head, `${head} ${FAULT}`));
  return dir;
}

let stack: TestStack;
let dir: string;
beforeAll(async () => {
  if (fullOr(1, 0) === 0) return;
  stack = await startStack({ real: true });
  dir = programWithALoop();
}, 60_000);
afterAll(async () => {
  await stack?.close();
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

/** @param state a folder of its own: nothing tells one worker of what another has met */
async function startLoopingWorker(state: string): Promise<ReadyProcess> {
  return await startReadyProcess(join(dir, 'dist', 'workers', 'worker.js'), {
    env: environmentOf({
      engine: { address: await temporalAddress(), namespace: stack.namespace },
      stateDir: join(dir, state),
      env: {
        HOLDFAST_API_BASE_URL: stack.sandboxUrl,
        HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
        HOLDFAST_STOP_SECONDS: '10',
        HOLDFAST_TASK_QUEUES: 'payments',
      },
    }),
  });
}

describe('an endless loop in the code of a flow', () => {
  atFullCounts(
    'costs one restart: it is named, calls under way end, and the other flows go on, each with one charge',
    async () => {
      await stack.stopWorker();
      const first = await startLoopingWorker('first');
      await stack.sandbox.addFault({
        action: 'delay',
        method: 'POST',
        path: '*/charges',
        delay_ms: SLOW_MS,
        times: OTHERS,
      });
      const inputs = await Promise.all(Array.from({ length: OTHERS }, () => chargeInput(stack.sandbox)));
      const outcomes = inputs.map((input) => stack.holdfast.charge(input));
      const calls = async () => (await stack.sandbox.faults()).reduce((sum, { fired }) => sum + fired, 0);
      await until(calls, (count) => count > 0);
      const looping = stack.holdfast.listCards({ customerId: crypto.randomUUID() });
      const neverAnswered = looping.catch(String);
      expect(await new Promise((resolve) => first.process.once('exit', resolve))).toBe(1);
      expect(first.logs()).toContain('Endless loop in the code of a flow');
      const [workflowId] = /card-[0-9a-f-]+/.exec(first.logs()) ?? [];
      expect(existsSync(join(dir, 'first', 'endless-loop'))).toBe(true);

      const second = await startLoopingWorker('second');
      // Answers to the callers of then were lost with the first worker: they ask again.
      await Promise.all(outcomes);
      for (const input of inputs) {
        const asked = () => stack.holdfast.charge(input);
        expect(await until(asked, ({ status }) => status !== 'unknown', 60_000)).toMatchObject({ status: 'succeeded' });
      }
      // It has the looping flow as well, under the SDK's own limit, and fails that flow's task alone, again and again.
      const attempt = async () =>
        (await stack.temporal.workflow.getHandle(workflowId ?? '').describe()).raw.pendingWorkflowTask?.attempt ?? 0;
      expect(await until(attempt, (count) => count >= 4, 60_000)).toBeGreaterThanOrEqual(4);
      expect(second.process.exitCode).toBeNull();
      expect(await stack.temporal.workflow.getHandle(workflowId ?? '').describe()).toMatchObject({
        status: { name: 'RUNNING' },
      });
      for (const { reference } of inputs) expect(await stack.sandbox.ledger(reference)).toHaveLength(1);
      await stack.temporal.workflow.getHandle(workflowId ?? '').terminate();
      expect(await neverAnswered).toMatch(/Error/);
      await second.kill();
    },
    180_000,
  );
});
