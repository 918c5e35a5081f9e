import { Runtime } from '@temporalio/worker';
import type { UnitObserver } from '../activities/bulkhead.js';
import type { Logger } from '../src/security/logging.js';

/** Counts the calls that are held back, and logs when a unit's service becomes slow or failing, and when it is well again. */
export function reportUnits(logger: Logger, taskQueue: string): UnitObserver {
  const meter = Runtime.instance().metricMeter;
  const open = meter.createGauge('holdfast_unit_circuit_open');
  const heldBack = meter.createCounter('holdfast_unit_calls_held_back');
  const tags = (businessUnit: string) => ({ business_unit: businessUnit, task_queue: taskQueue });
  return {
    circuit(businessUnit, isOpen) {
      open.set(isOpen ? 1 : 0, tags(businessUnit));
      if (isOpen)
        logger.warn(
          { businessUnit, taskQueue },
          'The payment service is slow or failing for this business unit: its flows wait without a place in a task',
        );
      else logger.info({ businessUnit, taskQueue }, 'The payment service answers this business unit in time again');
    },
    heldBack(businessUnit, because) {
      heldBack.add(1, { ...tags(businessUnit), because });
    },
  };
}
