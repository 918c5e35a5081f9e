import { drainBuild } from '../../src/cli/deploy-drain.js';
import { showDeployment } from '../../src/cli/deploy-status.js';
import type { Engine } from '../../src/cli/engine.js';
import { GRPC } from '../../src/client/grpc-codes.js';
import { grpcError } from '../client/namespace-server.js';

/** INACTIVE, CURRENT, RAMPING, DRAINING, DRAINED of Temporal's enum. */
const STATUS = { inactive: 1, current: 2, ramping: 3, draining: 4, drained: 5 } as const;

export const QUEUES = ['holdfast', 'holdfast-billing'];

export interface Flow {
  workflowId: string;
  type: 'subscription' | 'charge';
  build: string;
  /** Default: that of billing. */
  queue?: 'holdfast';
  /** It waits for something, and moves only once that has ended. */
  busy?: true;
}

export interface Deployed {
  builds: Readonly<Record<string, keyof typeof STATUS>>;
  /** Percent of the ramping build, if there is one. */
  ramp?: number;
  /** Builds with a worker on both queues. */
  polling: readonly string[];
  /** The queues on which they poll, and ever have. Default: both. */
  queues?: readonly string[];
  flows?: Flow[];
  /** Names of all deployments. */
  deployments?: readonly string[];
}

/** A server with one deployment, whose visibility knows what is asked here. */
export function engineWith({ builds, ramp = 10, polling, queues = QUEUES, flows = [], deployments = [] }: Deployed) {
  const calls: string[] = [];
  const seconds = Math.floor(Date.now() / 1_000);
  const matching = (query: string): Flow[] =>
    flows.filter(
      ({ build, type, queue = 'holdfast-billing' }) =>
        query.includes(`'holdfast:${build}'`) &&
        (!query.includes('TaskQueue') || query.includes(`TaskQueue = "${queue}"`)) &&
        (!query.includes('WorkflowType') || query.includes(`WorkflowType = "${type}"`)) &&
        !query.includes('!= "Pinned"'),
    );
  const move = (workflowId: string): void => {
    const flow = flows.find((one) => one.workflowId === workflowId);
    const current = Object.keys(builds).find((build) => builds[build] === 'current');
    if (flow !== undefined && flow.busy !== true) flow.build = current ?? flow.build;
  };
  const client = {
    options: { namespace: 'shop' },
    withDeadline: async (_at: number, call: () => Promise<unknown>) => await call(),
    workflowService: {
      async describeWorkerDeployment({ deploymentName }: { deploymentName: string }) {
        if (deploymentName !== 'holdfast') throw grpcError(GRPC.notFound, 'no Worker Deployment found');
        return {
          workerDeploymentInfo: {
            versionSummaries: Object.entries(builds).map(([buildId, status]) => ({
              deploymentVersion: { buildId },
              status: STATUS[status],
              createTime: { seconds },
            })),
            routingConfig: { rampingVersionPercentage: ramp },
          },
        };
      },
      listWorkerDeployments: async () => ({ workerDeployments: deployments.map((name) => ({ name })) }),
      async describeWorkerDeploymentVersion() {
        return { versionTaskQueues: queues.map((name) => ({ name })) };
      },
      async describeTaskQueue({ taskQueue }: { taskQueue: { name: string } }) {
        return {
          pollers: (queues.includes(taskQueue.name) ? polling : []).map((buildId) => ({
            identity: `1@${buildId}`,
            lastAccessTime: { seconds },
            deploymentOptions: { deploymentName: 'holdfast', buildId },
          })),
        };
      },
      async updateWorkflowExecutionOptions(request: { workflowExecution: { workflowId: string } }) {
        const { workflowId } = request.workflowExecution;
        calls.push(`override ${workflowId}`);
        flows.splice(
          flows.findIndex((one) => one.workflowId === workflowId),
          1,
        );
      },
    },
    workflow: {
      count: async (query: string) => ({ count: matching(query).length }),
      async *list({ query }: { query: string }) {
        for (const { workflowId, type } of matching(query))
          yield {
            workflowId,
            type,
            runId: 'run',
            status: { name: 'RUNNING' },
            startTime: new Date(),
            typedSearchAttributes: { get: () => undefined },
          };
      },
      getHandle: (workflowId: string, runId: string) => ({
        async signal(name: string, ...args: unknown[]) {
          calls.push([name, workflowId, runId, ...args].join(' '));
          move(workflowId);
        },
      }),
    },
  };
  return { engine: { client, address: '127.0.0.1:7233', namespace: 'shop' } as unknown as Engine, calls };
}

export async function ran(
  work: (output: {
    print: (text: string) => void;
    printError: (text: string) => void;
    env: NodeJS.ProcessEnv;
  }) => Promise<number>,
) {
  let out = '';
  let err = '';
  const code = await work({ print: (text) => void (out += text), printError: (text) => void (err += text), env: {} });
  return { code, out, err };
}

export const status = (deployed: Deployed, build?: string, env: NodeJS.ProcessEnv = {}) =>
  ran((output) =>
    showDeployment(
      engineWith(deployed).engine,
      { command: 'deploy status', json: false, ...(build !== undefined && { build }) },
      { ...output, env },
    ),
  );

const request = { command: 'deploy drain', json: false, rate: 1_000, wait: 0, payments: false } as const;
export const drain = (engine: Engine, build: string, more: { payments?: boolean } = {}) =>
  ran((output) => drainBuild(engine, { ...request, build, ...more }, output));

export const subscription = (name: string, build: string): Flow => ({
  workflowId: `subscription-${name}`,
  type: 'subscription',
  build,
});
