import type { Client } from '@temporalio/client';
import { Runtime } from '@temporalio/worker';
import { OPEN } from '../src/client/is-open.js';
import { WORKER_GAUGES } from '../src/contract/metrics.js';
import { FINDING_KINDS, FINDING_PREFIX, RECONCILIATION_TYPES } from '../src/contract/reconcile.js';
import type { Logger } from '../src/security/logging.js';
import { repeating } from './repeating.js';

/** Reconciliations come once a day, and acknowledgements when people work. */
const EVERY_MS = 5 * 60_000;
const ASK_MS = 5_000;

/** Publishes how many differences of each kind wait for a person. Every worker says the same. */
export function reportFindings(client: Client, logger: Logger): () => Promise<void> {
  const open = Runtime.instance().metricMeter.createGauge(WORKER_GAUGES.findingsOpen);
  const report = async (): Promise<void> => {
    try {
      for (const kind of FINDING_KINDS) {
        const query =
          `WorkflowType = "${RECONCILIATION_TYPES.finding}" AND ${OPEN} AND ` +
          `WorkflowId STARTS_WITH "${FINDING_PREFIX}${kind}-"`;
        const { count } = await client.withDeadline(Date.now() + ASK_MS, () => client.workflow.count(query));
        open.set(count, { kind });
      }
    } catch (err) {
      logger.debug({ err }, 'The findings of reconciliations could not be counted');
    }
  };
  return repeating(report, EVERY_MS);
}
