import { hostname } from 'node:os';
import { isSpanContextValid, ROOT_CONTEXT, SpanKind, trace, type SpanContext } from '@opentelemetry/api';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import {
  type NativeConnection,
  Worker,
  type WorkerDeploymentOptions,
  type WorkerOptions,
  type InjectedSinks,
} from '@temporalio/worker';
import { createBillingActivities } from '../activities/billing.js';
import { createBulkActivities } from '../activities/bulk.js';
import { createReconcileActivities, type ReconcileDeps } from '../activities/reconcile.js';
import { type ActivityDeps, createActivities, type Restored, type UnitTerms } from '../activities/index.js';
import { type BulkheadOptions, placesOf, withBulkheads, type UnitObserver } from '../activities/bulkhead.js';
import { createEnginePort } from '../src/client/engine-port.js';
import { createBulkPort } from '../src/client/bulk-port.js';
import { createReconcilePort } from '../src/client/reconcile-port.js';
import { announcingIdentity } from '../src/client/ready-check.js';
import type { EventSinks } from '../src/contract/messages.js';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../src/contract/names.js';
import type { ReferenceBook } from '../src/contract/reference-book.js';
import type { ProviderClient } from '../src/provider/index.js';
import type { NotifySettings } from '../src/security/notify-settings.js';
import { EncryptionCodec } from '../src/security/payload-codec.js';
import { bundleWorkflows } from './bundle-workflows.js';

/** Waiting flows beyond this number leave the cache and are replayed at their next workflow task. */
const MAX_CACHED_WORKFLOWS = 600;

/** Subscriptions wait for weeks, so caching them is of little use. */
const MAX_CACHED_SUBSCRIPTIONS = 200;

/** A task waits for its flow's first calls to the service: as many flows wait at a time. */
export const WORKFLOW_TASKS = 300;

/** Calls that are sent after these, and reads: those wait for the service without a task, and cost little. */
const REGULAR_CALLS = 600;

/** Calls. Fewer say little about a service. */
const CIRCUIT_OPENS_FROM = 10;

/** A task that finds no waiting poller is overtaken by later ones that do. */
export const POLLERS = 40;

const BILLING_TASKS = 10;
const BILLING_CALLS = 60;

/** ms, see `BulkheadOptions`. Of the billing queue an attempt that sends nothing takes from the rate of all units. */
const LONGEST_RETURN = 10_000;
const LONGEST_RETURN_OF_BILLS = 120_000;

interface PaymentWorkerDeps {
  connection: NativeConnection;
  /** For the few calls that activities make to the engine. */
  client: Client;
  dataConverter: DataConverter;
  providers: ReadonlyMap<string, ProviderClient>;
  /** Configured terms of each unit. */
  units: ReadonlyMap<string, UnitTerms>;
  /** Whether a start with an unencrypted input is refused. Default: no. */
  refusesClear?: boolean;
  /** undefined: nothing was restored from a backup. */
  restored?: Restored | undefined;
  /** The units' calls per second in this process. Default: no limit. */
  limits?: BulkheadOptions['limits'];
  /** Most activities per second on the queue, over all workers. Default: no limit. */
  callsPerSecond?: number | undefined;
  /** Keeps references unique for ever. Default: there is none. */
  referenceBook?: ReferenceBook | undefined;
  /** Which units are braked. Default: none. */
  brakeOf?: ActivityDeps['brakeOf'];
  /** Is told of units whose service is slow or failing. */
  observer?: UnitObserver;
  /** How merchants are told of flows; undefined: not at all. */
  notifications?: NotifySettings;
  /** Reads the statements that reconciliations match. Default: there are none. */
  statements?: ReconcileDeps['statements'];
  /** File written by `bundle-workflows.js`; undefined: the worker bundles the workflows at start. */
  bundlePath?: string;
  /** If set, the worker is one version of its deployment and gets no work before that version is current. */
  version?: WorkerDeploymentOptions['version'];
  /** How long calls under way may take when the worker stops, in ms. Default 5000. */
  stopMs?: number;
  /** For tests. */
  overrides?: Partial<WorkerOptions>;
}

/** Creates the worker of payment flows, for the process and for tests. */
export async function createPaymentWorker(deps: PaymentWorkerDeps): Promise<Worker> {
  return await createWorker(deps, {
    workflowTasks: WORKFLOW_TASKS,
    regularCalls: REGULAR_CALLS,
    longestReturn: LONGEST_RETURN,
  });
}

interface Size {
  workflowTasks: number;
  regularCalls: number;
  longestReturn: number;
}

async function createWorker(deps: PaymentWorkerDeps, size: Size): Promise<Worker> {
  const { workflowTasks, regularCalls } = size;
  const workflowBundle =
    deps.bundlePath === undefined ? { code: await bundleWorkflows() } : { codePath: deps.bundlePath };
  return await Worker.create({
    connection: deps.connection,
    namespace: deps.client.options.namespace,
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowBundle,
    dataConverter: deps.dataConverter,
    identity: announcingIdentity(`${process.pid}@${hostname()}`, keyIdsOf(deps.dataConverter), deps.restored?.lost),
    activities: activitiesOf(deps, size),
    sinks: eventSpans,
    maxCachedWorkflows: MAX_CACHED_WORKFLOWS,
    maxConcurrentWorkflowTaskExecutions: workflowTasks,
    maxConcurrentLocalActivityExecutions: workflowTasks,
    maxConcurrentActivityTaskExecutions: regularCalls,
    workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: Math.min(POLLERS, workflowTasks) },
    ...(deps.callsPerSecond !== undefined && { maxTaskQueueActivitiesPerSecond: deps.callsPerSecond }),
    ...(deps.version !== undefined && { workerDeploymentOptions: versioned(deps.version, 'AUTO_UPGRADE') }),
    // Calls in progress get this long to receive their answer; lost ones are sent again under the same key.
    shutdownGraceTime: deps.stopMs ?? 5_000,
    shutdownForceTime: (deps.stopMs ?? 5_000) + 2_000,
    ...deps.overrides,
  });
}

/**
 * Flows that may wait for days move to the newest code, whose changes are patched; a subscription stays with the code
 * that its run began with. The worker sets the behavior, not the workflow: the server accepts no task from an
 * unversioned worker whose workflow sets one.
 */
function versioned(
  version: WorkerDeploymentOptions['version'],
  defaultVersioningBehavior: 'AUTO_UPGRADE' | 'PINNED',
): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior };
}

/**
 * Creates the worker of the billing queue: subscriptions and the payments that they start. Bills due at the same time
 * start no faster than the queue's limit and never take the slot of a waiting buyer.
 */
export async function createBillingWorker(deps: PaymentWorkerDeps & { callsPerSecond: number }): Promise<Worker> {
  const overrides: Partial<WorkerOptions> = {
    taskQueue: BILLING_TASK_QUEUE,
    maxCachedWorkflows: MAX_CACHED_SUBSCRIPTIONS,
    ...(deps.version !== undefined && { workerDeploymentOptions: versioned(deps.version, 'PINNED') }),
    ...deps.overrides,
  };
  return await createWorker(
    { ...deps, overrides },
    { workflowTasks: BILLING_TASKS, regularCalls: BILLING_CALLS, longestReturn: LONGEST_RETURN_OF_BILLS },
  );
}

/** Ids of the keys that this worker can decode with. */
function keyIdsOf({ payloadCodecs = [] }: DataConverter): string[] {
  return payloadCodecs.flatMap((codec) => (codec instanceof EncryptionCodec ? codec.keyIds : []));
}

/** Activities of payments and of billing: each worker's workflows may be of either kind. */
function activitiesOf(deps: PaymentWorkerDeps, { workflowTasks, regularCalls, longestReturn }: Size) {
  const bulkhead = {
    places: placesOf({ tasks: workflowTasks, calls: regularCalls }),
    longestReturn,
    opensFrom: CIRCUIT_OPENS_FROM,
    now: () => performance.now(),
    limits: deps.limits,
    observer: deps.observer,
  };
  const needs = {
    providers: withBulkheads(deps.providers, bulkhead),
    units: deps.units,
    engine: createEnginePort(deps.client),
    bulk: createBulkPort(deps.client),
    reconcile: createReconcilePort(deps.client),
    statements: deps.statements,
    referenceBook: deps.referenceBook,
    brakeOf: deps.brakeOf,
    refusesClear: deps.refusesClear ?? false,
    restored: deps.restored,
    notifications: deps.notifications,
    now: Date.now,
  };
  return {
    ...createActivities(needs),
    ...createBillingActivities(needs),
    ...createReconcileActivities(needs),
    ...createBulkActivities(needs),
  };
}

/** Ends an event's trace with a span of the workflow that handled it, a child of the webhook handler's span. */
const eventSpans: InjectedSinks<EventSinks> = {
  events: {
    received: {
      fn({ workflowId, runId, workflowType }, { hash, eventType, traceparent }) {
        const parent = spanContextOf(traceparent);
        if (parent === undefined) return;
        const attributes = {
          'holdfast.event_type': eventType,
          'holdfast.event_hash': hash,
          temporalWorkflowID: workflowId,
          temporalRunID: runId,
        };
        trace
          .getTracer('holdfast-worker')
          .startSpan(
            `event in ${workflowType}`,
            { kind: SpanKind.CONSUMER, attributes },
            trace.setSpanContext(ROOT_CONTEXT, parent),
          )
          .end();
      },
      // A replay handles the event again, which must not add a span.
      callDuringReplay: false,
    },
  },
};

function spanContextOf(traceparent = ''): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = '0'] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? [];
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(parent) ? parent : undefined;
}
