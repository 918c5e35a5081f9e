import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { isGrpcServiceError } from '@temporalio/client';
import { DEPLOYMENT_NAME } from '../../src/contract/names.js';
import { type ReadyProcess, startReadyProcess } from '../../tools/stack/ready-process.js';
import { environmentOf } from '../../tools/stack/services.js';
import { TEST_ENCRYPTION_KEYS } from './data-converter.js';
import type { TestStack } from './stack.js';
import { temporalAddress } from './temporal.js';
import { until } from './until.js';

const ROOT = resolve(import.meta.dirname, '../..');

/** What an image of one build holds: its programs, and its workflows. */
export interface BuildFolder {
  readonly path: string;
  remove(): void;
}

/** The build as it is, with other workflow code. @throws Error if the bundle does not hold `code` exactly once */
export function buildWith(code: string, other: string): BuildFolder {
  const path = mkdtempSync(join(tmpdir(), 'holdfast-build-'));
  for (const part of ['src', 'workers', 'workflows', 'activities'])
    cpSync(join(ROOT, 'dist', part), join(path, 'dist', part), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(path, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  const bundle = readFileSync(join(ROOT, 'dist/workflow-bundle.js'), 'utf8');
  const parts = bundle.split(code);
  if (parts.length !== 2) throw new Error(`The bundle holds ${JSON.stringify(code)} ${parts.length - 1} times`);
  writeFileSync(join(path, 'dist/workflow-bundle.js'), parts.join(other));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The command and the workers of builds beside the stack's own processes. */
export async function deploysOn(stack: TestStack) {
  const engine = { address: await temporalAddress(), namespace: stack.namespace };
  const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-deploys-'));
  const env = {
    ...environmentOf({ engine, stateDir, env: { HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS } }),
    HOLDFAST_API_BASE_URL: stack.sandboxUrl,
    HOLDFAST_BILLING_CALLS_PER_SECOND: '1000',
    HOLDFAST_STOP_SECONDS: '5',
  };
  const { workflowService } = stack.temporal;
  const deployment = { namespace: stack.namespace, deploymentName: DEPLOYMENT_NAME };
  const started: ReadyProcess[] = [];
  return {
    /** @param queues as HOLDFAST_TASK_QUEUES */
    async worker(
      buildId: string,
      queues: 'all' | 'payments' | 'billing',
      folder: string = ROOT,
    ): Promise<ReadyProcess> {
      const own = { HOLDFAST_BUILD_ID: buildId, HOLDFAST_TASK_QUEUES: queues };
      const one = await startReadyProcess(join(folder, 'dist/workers/worker.js'), { env: { ...env, ...own } });
      started.push(one);
      return one;
    },
    makeCurrent: (buildId: string) =>
      oncePolled(() =>
        workflowService.setWorkerDeploymentCurrentVersion({ ...deployment, buildId, ignoreMissingTaskQueues: true }),
      ),
    /** @param buildId undefined: none */
    ramp: (buildId: string | undefined, percentage: number) =>
      oncePolled(() =>
        workflowService.setWorkerDeploymentRampingVersion({
          ...deployment,
          buildId: buildId ?? '',
          percentage,
          ignoreMissingTaskQueues: true,
        }),
      ),
    /** `holdfast` as that build has it, in a process of its own. */
    async command(args: readonly string[], folder: string = ROOT): Promise<{ code: number; out: string; err: string }> {
      const { PATH, HOME } = process.env;
      const file = join(folder, 'dist/src/cli/main.js');
      const options = { cwd: stateDir, env: { PATH, HOME, ...env } };
      try {
        const { stdout, stderr } = await promisify(execFile)(process.execPath, [file, ...args], options);
        return { code: 0, out: stdout, err: stderr };
      } catch (error) {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { code, out: stdout, err: stderr };
      }
    },
    async close() {
      await Promise.all(started.map((one) => one.stop(10_000)));
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

/** A version is known once its worker has polled, and for a while a change may be under way. */
async function oncePolled(change: () => Promise<unknown>): Promise<void> {
  await until(
    () =>
      change().then(
        () => 'done',
        (error: unknown) => {
          if (!isGrpcServiceError(error)) throw error;
          return error.details;
        },
      ),
    (answer) => answer === 'done',
  );
}

/** The build that a flow's last task was done by; undefined: by none. */
export async function buildOf({ temporal }: TestStack, workflowId: string): Promise<string | undefined> {
  const { raw } = await temporal.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
}
