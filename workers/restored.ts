import type { Worker } from '@temporalio/worker';
import type { Restored } from '../activities/index.js';
import type { Config } from '../src/config/index.js';
import { lostKeysUntil } from '../src/domain/lost-time.js';
import type { Logger } from '../src/security/logging.js';
import { StartFault } from './process.js';

/** What the configuration says of a restore; undefined if nothing was restored. */
export function restoredOf({ restoredTo: lost, restoredStatement: statement }: Config): Restored | undefined {
  return lost === undefined ? undefined : { lost, statement };
}

/**
 * From when on (epoch ms) nothing may be billed, since nobody knows what was billed in the lost time and the service
 * forgets its keys; undefined: at any time.
 */
function billsUntil(config: Config): number | undefined {
  const restored = restoredOf(config);
  return restored === undefined || restored.statement !== undefined ? undefined : lostKeysUntil(restored.lost);
}

const why = (until: number): string =>
  `nothing is billed from ${new Date(until).toISOString()} on, 20 h after the backup of HOLDFAST_RESTORED_TO: the payment ` +
  'service forgets the keys of the bills that were paid in the lost time, and they would be paid again. Name its statement of ' +
  'that time in HOLDFAST_RESTORED_STATEMENT_FILE (docs/disaster.md)';

/** @throws StartFault where billing could pay again what was paid in the lost time */
export function refuseToBill(config: Config, now: number): void {
  const until = billsUntil(config);
  if (config.taskQueues === 'payments' || until === undefined || now < until) return;
  throw new StartFault(`${why(until)}; or serve payments alone meanwhile, with HOLDFAST_TASK_QUEUES=payments.`);
}

const LOOK_EVERY_MS = 10_000;

/**
 * Stops the worker of the billing queue once it could not start any more. By the clock, since a timer stands still while
 * the machine sleeps; and again and again, since the worker may begin to run only afterwards.
 */
export function stopBillingInTime(config: Config, billing: Worker, logger: Logger): void {
  const until = billsUntil(config);
  if (until === undefined) return;
  logger.warn(`After a restore without a statement: ${why(until)}.`);
  const looking = setInterval(() => {
    if (Date.now() < until || billing.getState() === 'INITIALIZED') return;
    clearInterval(looking);
    if (billing.getState() !== 'RUNNING') return;
    logger.error(`The worker of the billing queue stops: ${why(until)}.`);
    billing.shutdown();
  }, LOOK_EVERY_MS).unref();
}
