import type { Client } from '@temporalio/client';
import { Runtime } from '@temporalio/worker';
import { countVersions, MOST_VERSIONS } from '../src/client/worker-deployment.js';
import { WORKER_GAUGES } from '../src/contract/metrics.js';
import type { Logger } from '../src/security/logging.js';
import { repeating } from './repeating.js';

const EVERY_MS = 10 * 60_000;
const ASK_MS = 5_000;
/** A share of the versions that leaves time to drain some. */
const MANY = 0.8 * MOST_VERSIONS;

/** Publishes how many versions the deployment has: when the server takes no more, the workers of the next build get no work. */
export function reportVersions(client: Client, deploymentName: string, logger: Logger): () => Promise<void> {
  const versions = Runtime.instance().metricMeter.createGauge(WORKER_GAUGES.deploymentVersions);
  const report = async (): Promise<void> => {
    try {
      const count = await client.withDeadline(Date.now() + ASK_MS, () => countVersions(client, deploymentName));
      if (count === undefined) return;
      versions.set(count);
      if (count >= MANY)
        logger.warn(
          { count, most: MOST_VERSIONS },
          'The worker deployment has many versions, and the server takes no more than these: drain old builds (npx holdfast deploy status)',
        );
    } catch (err) {
      logger.debug({ err }, 'The versions of the worker deployment could not be counted');
    }
  };
  return repeating(report, EVERY_MS);
}
