import { Runtime } from '@temporalio/worker';
import {
  type CircuitState,
  HELD_BACK_BECAUSE,
  type HeldBackBecause,
  type UnitObserver,
} from '../activities/bulkhead.js';
import { WORKER_COUNTERS, WORKER_GAUGES } from '../src/contract/metrics.js';
import {
  BILLING_TASK_QUEUE,
  NOTIFICATIONS_WORKFLOW,
  PAYMENTS_TASK_QUEUE,
  WORKFLOW_TYPES,
} from '../src/contract/names.js';
import type { Logger } from '../src/security/logging.js';

interface Reported {
  logger: Logger;
  namespace: string;
  taskQueue: string;
  businessUnits: Iterable<string>;
}

const SAID: Readonly<Record<CircuitState, string>> = {
  open: 'The payment service is slow or failing for this business unit: its flows wait without a place in a task',
  closed: 'The payment service answers this business unit in time again',
  unseen: 'Nothing was called for this business unit for a minute: its next first calls show how the service is',
};

const givenUpBy = (...workflowTypes: string[]) =>
  workflowTypes.map((workflowType) => ({ name: WORKER_COUNTERS.notificationsGivenUp, workflowType }));

/**
 * Counters of workflows by the queue of their worker: each is worth an alert. What a flow tells may be lost before the
 * flow that sends it has it, and nothing else shows that.
 */
const OF_FLOWS: Readonly<Record<string, readonly { name: string; workflowType: string }[]>> = {
  [PAYMENTS_TASK_QUEUE]: [
    { name: WORKER_COUNTERS.captureDeadlineNear, workflowType: WORKFLOW_TYPES.authorizeAndCapture },
    ...givenUpBy(
      NOTIFICATIONS_WORKFLOW,
      WORKFLOW_TYPES.charge,
      WORKFLOW_TYPES.authorizeAndCapture,
      WORKFLOW_TYPES.credit,
      WORKFLOW_TYPES.paymentActions,
      WORKFLOW_TYPES.analyseRisk,
      WORKFLOW_TYPES.resolvePending,
      WORKFLOW_TYPES.storeCard,
    ),
  ],
  [BILLING_TASK_QUEUE]: givenUpBy(WORKFLOW_TYPES.subscription, WORKFLOW_TYPES.charge),
};

/**
 * Counts the calls that are held back, and logs when a unit's service becomes slow or failing, and when it is well again.
 * The series of all units begin at 0: Prometheus sees no increase in one that begins with its first event.
 */
export function reportUnits({ logger, namespace, taskQueue, businessUnits }: Reported): UnitObserver {
  const meter = Runtime.instance().metricMeter;
  const open = meter.createGauge(WORKER_GAUGES.unitCircuitOpen);
  const heldBack = meter.createCounter(WORKER_COUNTERS.unitCallsHeldBack);
  const tags = (businessUnit: string) => ({ business_unit: businessUnit, task_queue: taskQueue });
  const count = (businessUnit: string, because: HeldBackBecause, calls: 0 | 1): void =>
    heldBack.add(calls, { ...tags(businessUnit), because });
  for (const businessUnit of businessUnits) {
    open.set(0, tags(businessUnit));
    for (const because of HELD_BACK_BECAUSE) count(businessUnit, because, 0);
    // With the labels that the SDK adds to the counters of workflows: a series without them would be another one.
    for (const { name, workflowType } of OF_FLOWS[taskQueue] ?? [])
      meter.createCounter(name).add(0, { namespace, taskQueue, workflowType, business_unit: businessUnit });
  }
  return {
    circuit(businessUnit, state) {
      open.set(state === 'open' ? 1 : 0, tags(businessUnit));
      logger[state === 'open' ? 'warn' : 'info']({ businessUnit, taskQueue }, SAID[state]);
    },
    heldBack: (businessUnit, because) => count(businessUnit, because, 1),
  };
}
