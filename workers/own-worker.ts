import { readFile } from 'node:fs/promises';
import type { DataConverter } from '@temporalio/common';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import {
  ASK_FLOW_ACTIVITY,
  BILLING_TASK_QUEUE,
  DELIVERIES_TASK_QUEUE,
  NOTIFICATIONS_TASK_QUEUE,
  PAYMENTS_TASK_QUEUE,
} from '../src/contract/names.js';
import { ownConverterPaths } from '../src/security/data-converter.js';
import { LEFT_TO_ANOTHER } from '../src/security/own-payload-converter.js';
import type { EngineConnections } from './connect.js';
import { flowActivities } from './flow-activities.js';

/** A worker for workflows of yours, which may start Holdfast's flows as children: see `holdfast/workflows`. */
export interface OwnWorker extends Pick<WorkerOptions, 'workflowsPath' | 'workflowBundle' | 'activities'> {
  /** A queue of your own, not one of Holdfast's. */
  taskQueue: string;
  /** Other options of Temporal's `Worker.create`. */
  options?: Partial<
    Omit<
      WorkerOptions,
      'connection' | 'namespace' | 'taskQueue' | 'dataConverter' | 'activities' | 'workflowsPath' | 'workflowBundle'
    >
  >;
}

const OF_HOLDFAST = [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE, NOTIFICATIONS_TASK_QUEUE, DELIVERIES_TASK_QUEUE];

type NotAmongOptions = Exclude<keyof WorkerOptions, keyof NonNullable<OwnWorker['options']>>;
const NOT_AMONG_OPTIONS: Readonly<Record<NotAmongOptions, string>> = {
  connection: 'Holdfast sets it',
  namespace: 'Holdfast sets it',
  dataConverter: 'Holdfast sets it',
  taskQueue: 'give it as own.taskQueue',
  activities: 'give it as own.activities',
  workflowsPath: 'give it as own.workflowsPath',
  workflowBundle: 'give it as own.workflowBundle',
};

/** @throws RangeError with every fault */
export async function checkOwnWorker({ taskQueue, workflowBundle, activities, options }: OwnWorker): Promise<void> {
  const faults: string[] = [];
  if (OF_HOLDFAST.includes(taskQueue))
    faults.push(`own.taskQueue is "${taskQueue}", which Holdfast's own workers serve: name another queue`);
  if (activities !== undefined && ASK_FLOW_ACTIVITY in activities)
    faults.push(`own.activities has "${ASK_FLOW_ACTIVITY}", by which executeFlow joins a flow: name yours otherwise`);
  for (const [name, where] of Object.entries(NOT_AMONG_OPTIONS))
    if (options !== undefined && name in options) faults.push(`own.options.${name}: ${where}`);
  if (workflowBundle !== undefined && !(await codeOf(workflowBundle)).includes(LEFT_TO_ANOTHER))
    faults.push(
      'own.workflowBundle was bundled without the converters by which a missing key fails no payment: ' +
        'give `...ownConverterPaths()` of holdfast/worker to bundleWorkflowCode',
    );
  if (faults.length > 0) throw new RangeError(faults.join('; '));
}

async function codeOf(bundle: NonNullable<OwnWorker['workflowBundle']>): Promise<string> {
  return 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
}

/** For whatever is a merchant's: see `own-payload-converter.ts`. */
export function ownDataConverter(dataConverter: DataConverter): DataConverter {
  return { ...dataConverter, ...ownConverterPaths() };
}

/** @param stopMs how long calls under way may take when the worker stops */
export async function createOwnWorker(
  { taskQueue, activities, options, ...workflows }: OwnWorker,
  engine: EngineConnections,
  dataConverter: DataConverter,
  stopMs: number,
): Promise<Worker> {
  return await Worker.create({
    shutdownGraceTime: stopMs,
    shutdownForceTime: stopMs + 2_000,
    ...options,
    ...workflows,
    connection: engine.native(),
    namespace: engine.client.options.namespace,
    taskQueue,
    dataConverter,
    activities: { ...flowActivities(engine.client), ...activities },
  });
}
