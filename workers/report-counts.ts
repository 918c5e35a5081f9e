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
 * @returns ends that; the connection may be closed then
 */
export function reportCounts(
  { buildId, deploymentName, taskQueues }: Pick<Config, 'buildId' | 'deploymentName' | 'taskQueues'>,
  { client, codec, logger }: Counted,
): () => Promise<void> {
  const timer = reportCodecCounts(codec);
  const ends: (() => Promise<void>)[] = [];
  if (buildId !== undefined) ends.push(reportVersions(client, deploymentName, logger));
  if (taskQueues !== 'payments') ends.push(reportFindings(client, logger));
  return async () => {
    clearInterval(timer);
    await Promise.all(ends.map((end) => end()));
  };
}
