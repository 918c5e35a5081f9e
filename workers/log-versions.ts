import type { Client } from '@temporalio/client';
import type { Config } from '../src/config/index.js';
import type { Logger } from '../src/security/logging.js';
import { logReasons } from './connect.js';
import { repeating } from './repeating.js';
import { logStates, readVersionState, sayState, whyPassedOver } from './version-state.js';

const EVERY_MS = 60_000;
const ASK_MS = 5_000;

interface Logged {
  client: Client;
  /** Task queues that are served. */
  queues: readonly string[];
  logger: Logger;
  /** For tests: how often to look. */
  everyMs?: number;
}

/**
 * Logs that the workers of a process get no work, or none but old one, because of the build that is current. For a process
 * without `/ready`, which says the same.
 * @returns ends that; the connection may be closed then
 */
export function logVersions(
  { buildId, deploymentName }: Pick<Config, 'buildId' | 'deploymentName'>,
  { client, queues, logger, everyMs = EVERY_MS }: Logged,
): () => Promise<void> {
  const within = <Answer>(ask: () => Promise<Answer>) => client.withDeadline(Date.now() + ASK_MS, ask);
  const states = logStates(logger);
  const reasons = logReasons(logger);
  return repeating(async () => {
    try {
      if (buildId === undefined) reasons(await within(() => whyPassedOver(client, queues)));
      else {
        const version = { buildId, deploymentName };
        const state = await within(() => readVersionState(client, version));
        states(state, sayState(state, version));
      }
    } catch (err) {
      logger.debug({ err }, 'Which build is current could not be read');
    }
  }, everyMs);
}
