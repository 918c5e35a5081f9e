import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
} from '@temporalio/workflow';
import { HOUR_MS } from '../src/contract/time-units.js';
import { FAILURE_TYPES } from '../src/contract/names.js';
import { OUTGOING_FLOW, type OutgoingOfDay } from '../src/contract/outgoing.js';
import { isSealed, NOT_FOR_THIS_FLOW } from '../src/contract/payload-marks.js';
import type { DaySums } from '../src/domain/outgoing.js';
import { earlierRun } from './kit/earlier-run.js';
import { opened, openRun } from './kit/run.js';
import { invalidInput } from './kit/start-guard.js';
import { type Counting, registerCounting } from './outgoing/handlers.js';

const CARRIED_VERSION = 1;

/** Accepted updates: five events each, well below the engine's limits. */
const MOST_A_RUN = 500;

/** What the next run of a long one needs. */
interface Carried {
  v: typeof CARRIED_VERSION;
  sums: [string, number][];
  cards: [string, number][];
  keys: [string, number][];
}

/**
 * Counts what one business unit with limits sends to cards on one day in UTC: one request at a time, so that no two of
 * them take the same room. Stays open for a day longer, since a call may be retried until then.
 */
export async function outgoing(raw: unknown, carried?: unknown): Promise<OutgoingOfDay> {
  const { input, counting, isFirst } = opened(() => open(raw, carried));
  registerCounting(input, counting);
  return await CancellationScope.nonCancellable(async () => {
    if (isFirst) await refuseSecondRun(counting);
    counting.begun = true;
    const ms = Date.parse(input.day) + 48 * HOUR_MS - Date.now();
    const isOver = !(await condition(() => counting.counted >= MOST_A_RUN, Math.max(1, ms), {
      summary: 'Until the day is over',
    }));
    await condition(allHandlersFinished);
    if (isOver) return { ...input, sums: Object.fromEntries(counting.day.sums) };
    return await continueAsNew<typeof outgoing>(raw, carriedOf(counting.day));
  });
}

function open(raw: unknown, carried: unknown) {
  const { input, before } = openRun(OUTGOING_FLOW, [raw, carried], isCarried);
  // Whoever has access to Temporal could begin a day again, at nothing.
  if (!isSealed(raw)) throw invalidInput([`input: ${NOT_FOR_THIS_FLOW}, and only workers count, encrypted`]);
  const { sums = [], cards = [], keys = [] } = before ?? {};
  const day = { sums: new Map(sums), cards: new Map(cards), keys: new Map(keys) };
  const counting: Counting = { day, counted: 0, begun: false };
  return { input, counting, isFirst: before === undefined };
}

/** The payload of an earlier start can be copied; what that run has counted would be forgotten. */
async function refuseSecondRun(counting: Counting): Promise<void> {
  const earlier = await earlierRun(false);
  if (earlier === undefined) return;
  counting.refusal = ApplicationFailure.nonRetryable(
    `Run ${earlier} has counted this day, and has ended: what is sent next counts on another day`,
    FAILURE_TYPES.stateConflict,
  );
  await condition(allHandlersFinished);
  throw counting.refusal;
}

/** Whoever has access to Temporal could make room otherwise. */
function isCarried(carried: { v?: unknown }): carried is Carried {
  return isSealed(carried) && carried.v === CARRIED_VERSION;
}

function carriedOf({ sums, cards, keys }: DaySums): Carried {
  return { v: CARRIED_VERSION, sums: [...sums], cards: [...cards], keys: [...keys] };
}
