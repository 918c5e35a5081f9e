import type { Client } from '@temporalio/client';
import { openFlows, wakeParked } from '../../tools/audit/flow-health.js';
import { until } from './until.js';

export { countEvents, flowProblems } from '../../tools/audit/flow-health.js';

/**
 * Returns once every flow has ended or has nothing to do. An event that found neither its flow nor the service during the
 * faults would look again minutes later: it is asked to do so now, as an operator would. Throws after half a minute.
 */
export async function untilNoneIsOpen(temporal: Client): Promise<void> {
  await until(
    async () => {
      const open = await openFlows(temporal);
      await wakeParked(temporal, open);
      return open;
    },
    (open) => open.length === 0,
  );
}
