import { durationMs } from './duration.js';

export interface Conflict {
  path: (string | number)[];
  message: string;
}

const DAY_MS = 86_400_000;
const SIX_HOURS_MS = 6 * 3_600_000;
/** Fewest days in one unit. */
const FEWEST_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 28, year: 365 };

/**
 * Conflicts between fields of a subscription. Takes any object: faults of single fields are found elsewhere, and such
 * fields are not compared.
 */
export function subscriptionConflicts(input: object): Conflict[] {
  const { periods, endsOn, anchor, trialDays, interval, dunning, jitter } = input as Readonly<Record<string, unknown>>;
  return [
    ...endConflicts({ periods, endsOn, anchor, trialDays }),
    ...retryConflicts(field(dunning, 'retryDays'), shortestInterval(interval)),
    ...jitterConflicts(jitter),
  ];
}

/** Fewest days between two bills; undefined if the value is not an interval. */
export function shortestInterval(interval: unknown): number | undefined {
  const every = field(interval, 'every');
  const fewest = FEWEST_DAYS[String(field(interval, 'unit'))];
  return Number.isSafeInteger(every) && fewest !== undefined ? (every as number) * fewest : undefined;
}

function endConflicts({ periods, endsOn, anchor, trialDays }: Readonly<Record<string, unknown>>): Conflict[] {
  if (endsOn === undefined) return [];
  const conflicts: Conflict[] = [];
  if (periods !== undefined) {
    conflicts.push({ path: ['endsOn'], message: 'give either periods or endsOn, not both' });
  }
  const end = dayOf(endsOn);
  const start = dayOf(anchor);
  const trial = Number.isSafeInteger(trialDays) ? (trialDays as number) : 0;
  if (end !== undefined && start !== undefined && end <= start + trial) {
    const first = trial === 0 ? 'on the anchor' : `${trial} days after the anchor`;
    conflicts.push({ path: ['endsOn'], message: `nothing would ever be billed: the first bill is ${first}` });
  }
  return conflicts;
}

function retryConflicts(retryDays: unknown, room: number | undefined): Conflict[] {
  if (!Array.isArray(retryDays)) return [];
  return retryDays.flatMap((day: unknown, index): Conflict[] => {
    if (typeof day !== 'number') return [];
    const path = ['dunning', 'retryDays', index];
    const before: unknown = retryDays[index - 1];
    const conflicts: Conflict[] = [];
    if (typeof before === 'number' && day <= before) {
      conflicts.push({ path, message: `${day} does not come after ${before}: days count from the first decline` });
    }
    if (room !== undefined && day >= room) {
      const message = `a retry after ${day} days would meet the next bill, which may come after ${room}`;
      conflicts.push({ path, message });
    }
    return conflicts;
  });
}

function jitterConflicts(jitter: unknown): Conflict[] {
  const ms = typeof jitter === 'string' || typeof jitter === 'number' ? durationMs(jitter) : undefined;
  return ms !== undefined && ms > SIX_HOURS_MS ? [{ path: ['jitter'], message: 'is longer than 6 hours' }] : [];
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Days since 1970-01-01. */
function dayOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined;
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value) ?? [];
  if (year === undefined) return undefined;
  return Date.UTC(Number(year), Number(month) - 1, Number(day)) / DAY_MS;
}
