import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { withParentDeathSignal } from '../../tools/stack/interruption.js';
import { freePort } from '../../tools/stack/ports.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { fullOr } from '../support/counts.js';
import { startStack, type TestStack } from '../support/stack.js';
import { shopEnvironment } from './shop.js';

let stack: TestStack;
beforeAll(async () => {
  if (fullOr(1, 0) === 0) return;
  stack = await startStack({ real: true });
}, 120_000);
afterAll(async () => {
  await stack?.close();
});

/** Runs a program of a merchant's to its end, and returns what it printed. One that hangs is killed, and fails. */
async function run(program: string): Promise<string> {
  const source = `import { createHoldfastWorkers, workerMetrics } from 'holdfast/worker';\n${program}`;
  const { command, args } = withParentDeathSignal(process.execPath, ['--input-type=module', '-e', source]);
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...(await shopEnvironment(stack)) };
  const child = spawn(command, args, {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 40_000,
    killSignal: 'SIGKILL',
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? printed : `ended with ${code}, having printed: ${printed}`;
}

describe("Holdfast's workers in a process of a merchant's", () => {
  atFullCounts(
    'that are stopped before they run end as soon as they run, and let the process end',
    async () => {
      const program = `const own = { taskQueue: 'shop', activities: { ship: () => 'shipped' } };
const workers = await createHoldfastWorkers({ own });
console.log(workers.workers.at(-1).options.shutdownGraceTimeMs);
workers.shutdown();
await workers.run();
console.log('stopped');`;
      // The time of HOLDFAST_STOP_SECONDS is that of the merchant's worker, too.
      expect(await run(program)).toBe('5000\nstopped\n');
    },
    60_000,
  );

  atFullCounts(
    'count what no call of theirs counts, for the alerts, and stop with the workers',
    async () => {
      const port = await freePort();
      const program = `import { Runtime } from '@temporalio/worker';
const metrics = workerMetrics({ bindAddress: '127.0.0.1:${port}', environment: 'test' });
Runtime.install({ telemetryOptions: { metrics } });
const workers = await createHoldfastWorkers();
const running = workers.run();
for (const name of ['holdfast_codec_undecodable_total', 'holdfast_findings_open']) {
  const isThere = async () => (await (await fetch('http://127.0.0.1:${port}/metrics')).text()).includes(name);
  while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, 200));
  console.log(name);
}
workers.shutdown();
await running;
console.log('stopped');`;
      expect(await run(program)).toBe('holdfast_codec_undecodable_total\nholdfast_findings_open\nstopped\n');
    },
    60_000,
  );

  atFullCounts(
    'are ended when the one beside them can not be made: nothing keeps the process alive',
    async () => {
      const program = `const own = { taskQueue: 'shop', workflowsPath: '/nowhere/workflows.js' };
await createHoldfastWorkers({ own }).catch(({ message }) => console.log(message));`;
      expect(await run(program)).toContain('/nowhere/workflows.js');
    },
    60_000,
  );
});
