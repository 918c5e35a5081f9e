import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { Runtime } from '@temporalio/worker';
import { keepBrakes, type KeptBrakes } from '../src/client/brakes.js';
import type { Brake, Brakes } from '../src/contract/brakes.js';
import { WORKER_COUNTERS, WORKER_GAUGES } from '../src/contract/metrics.js';
import { brakeOf, sayBrake } from '../src/domain/brakes.js';
import { describeError, type Logger } from '../src/security/logging.js';
import type { Waiting } from './connect.js';

/** ms. Both together are less than what `BRAKE_KNOWN_WITHIN_MS` promises. */
const LOOK_EVERY_MS = 2_000;
const ANSWER_MS = 2_000;

export interface WatchedBrakes {
  /** The unit's brake, as Temporal said it last. */
  brakeOf(businessUnit: string): Brake | undefined;
  /** Resolves when nothing is asked of Temporal any more. */
  close(): Promise<void>;
}

interface Watching {
  logger: Logger;
  businessUnits: Iterable<string>;
  stopping: AbortSignal;
  /** Is told why the brakes can't be read before they were for the first time. */
  waiting: Waiting;
  /** For tests: how often to look. */
  everyMs?: number;
}

/**
 * Resolves once Temporal has said which units are braked: a worker that does not know it takes no work. From then on what
 * was read last counts, also while nothing can be read.
 */
export async function watchBrakes(
  client: Client,
  { logger, businessUnits, stopping, waiting, everyMs = LOOK_EVERY_MS }: Watching,
): Promise<WatchedBrakes> {
  const meter = Runtime.instance().metricMeter;
  const gauge = meter.createGauge(WORKER_GAUGES.unitBraked);
  const unread = meter.createCounter(WORKER_COUNTERS.brakesUnread);
  unread.add(0);
  let read: KeptBrakes | undefined;
  const ask = async (): Promise<Brakes> => {
    read = await client.withDeadline(Date.now() + ANSWER_MS, () =>
      keepBrakes(client, (what) => logger.error(what), read),
    );
    return read.kept;
  };
  let known = await firstAnswer(ask, everyMs, stopping, waiting);
  const units = new Set([...businessUnits]);
  const show = (before?: Brakes): void => {
    for (const { businessUnit } of known.braked) units.add(businessUnit);
    for (const businessUnit of units) {
      const brake = brakeOf(known, businessUnit);
      gauge.set(brake === undefined ? 0 : 1, { business_unit: businessUnit });
      const was = before === undefined ? undefined : brakeOf(before, businessUnit);
      if (brake !== undefined && JSON.stringify(brake) !== JSON.stringify(was))
        logger.warn(brake, `Now ${sayBrake(brake)}`);
      else if (brake === undefined && was !== undefined) logger.info({ businessUnit }, 'The business unit is released');
    }
  };
  show();
  const closing = new AbortController();
  let isUnread = false;
  const look = async (): Promise<void> => {
    try {
      const before = known;
      known = await ask();
      if (isUnread) logger.info('The brakes of business units can be read again');
      isUnread = false;
      show(before);
    } catch (err) {
      unread.add(1);
      if (!isUnread) logger.error({ err }, "The brakes of business units can't be read: what was read last counts");
      isUnread = true;
    }
  };
  const watching = repeat(look, everyMs, closing.signal);
  return {
    brakeOf: (businessUnit) => brakeOf(known, businessUnit),
    async close() {
      closing.abort();
      await watching;
    },
  };
}

async function firstAnswer(
  ask: () => Promise<Brakes>,
  everyMs: number,
  stopping: AbortSignal,
  waiting: Waiting,
): Promise<Brakes> {
  for (;;) {
    stopping.throwIfAborted();
    try {
      const brakes = await ask();
      waiting([]);
      return brakes;
    } catch (error) {
      const why = describeError(error).message;
      waiting([`which business units are braked can't be read, and nothing is sent before: ${why}.`]);
      await sleep(everyMs, undefined, { signal: stopping });
    }
  }
}

async function repeat(look: () => Promise<void>, everyMs: number, closing: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(everyMs, undefined, { signal: closing, ref: false }).catch(() => undefined);
    if (closing.aborted) return;
    await look();
  }
}
