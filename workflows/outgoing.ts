import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { countOutgoingSchema, OUTGOING_FLOW, type OutgoingOfDay } from '../src/contract/outgoing.js';
import { isSealed } from '../src/contract/payload-marks.js';
import { showMoney } from '../src/domain/money.js';
import { countOutgoing, type DaySums } from '../src/domain/outgoing.js';
import { HOUR } from '../src/domain/schedules.js';
import { onUpdate } from './kit/requests.js';
import { countUnknownSignals, failLaterRun, openRun } from './kit/run.js';
import { countOutgoingUpdate, explainQuery } from './messages.js';

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
  const { input, day } = open(raw, carried);
  let counted = 0;
  const show = (): void => setCurrentDetails(explain(input, day));
  onUpdate(countOutgoingUpdate, countOutgoingSchema, {
    description: 'Counts a credit or refund, if the day has room for it',
    validate: () => undefined,
    answer: (request) => {
      counted += 1;
      const answer = countOutgoing(day, request);
      show();
      return Promise.resolve(answer);
    },
  });
  setHandler(explainQuery, () => explain(input, day), { description: 'What was counted, in a sentence' });
  countUnknownSignals({ ignored: {} });
  show();
  return await CancellationScope.nonCancellable(async () => {
    const ms = Date.parse(input.day) + 48 * HOUR - Date.now();
    const isOver = !(await condition(() => counted >= MOST_A_RUN, Math.max(1, ms), {
      summary: 'Until the day is over',
    }));
    await condition(allHandlersFinished);
    if (isOver) return { ...input, sums: Object.fromEntries(day.sums) };
    return await continueAsNew<typeof outgoing>(raw, carriedOf(day));
  });
}

function open(raw: unknown, carried: unknown): { input: { businessUnit: string; day: string }; day: DaySums } {
  try {
    const { input, before } = openRun(OUTGOING_FLOW, [raw, carried], isCarried);
    const { sums = [], cards = [], keys = [] } = before ?? {};
    return { input, day: { sums: new Map(sums), cards: new Map(cards), keys: new Map(keys) } };
  } catch (failure) {
    failLaterRun(failure);
    throw failure;
  }
}

/** Whoever has access to Temporal could make room otherwise. */
function isCarried(carried: { v?: unknown }): carried is Carried {
  return isSealed(carried) && carried.v === CARRIED_VERSION;
}

function carriedOf({ sums, cards, keys }: DaySums): Carried {
  return { v: CARRIED_VERSION, sums: [...sums], cards: [...cards], keys: [...keys] };
}

function explain({ businessUnit, day }: { businessUnit: string; day: string }, { sums, keys }: DaySums): string {
  const money = [...sums].map(([currency, sum]) => showMoney(sum, currency)).join(', ');
  return `Money sent to cards by ${businessUnit} on ${day} (UTC): ${keys.size} credits and refunds, ${money === '' ? 'nothing yet' : money}. Nothing to do.`;
}
