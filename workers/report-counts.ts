import type { Client } from '@temporalio/client';
import type { Config } from '../src/config/index.js';
import type { Logger } from '../src/security/logging.js';
import type { EncryptionCodec } from '../src/security/payload-codec.js';
import { reportCodecCounts } from './codec-metrics.js';
import { reportFindings } from './finding-metrics.js';
import { reportVersions } from './version-metrics.js';

interface Counted {
  client: Client;
  codec: EncryptionCodec;
  logger: Logger;
}

/**
 * Publishes the metrics of a process with workers that none of its calls counts.
 * @returns ends that
 */
export function reportCounts(
  { buildId, deploymentName, taskQueues }: Pick<Config, 'buildId' | 'deploymentName' | 'taskQueues'>,
  { client, codec, logger }: Counted,
): () => void {
  const timers = [reportCodecCounts(codec)];
  if (buildId !== undefined) timers.push(reportVersions(client, deploymentName, logger));
  if (taskQueues !== 'payments') timers.push(reportFindings(client, logger));
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}
