import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { Temporal } from 'temporal-polyfill';

/**
 * Epoch ms of a local day and time (`2027-01-31`, `10:00`). For a time skipped by daylight saving: the first instant
 * after the gap, which is the start of the next day if the zone skipped the whole day. For a time that occurs twice:
 * the first.
 * @throws RangeError for an invalid day or time, and for a zone that this Node version doesn't know
 */
export function instantOf(date: string, time: string, timeZone: string): number {
  const wanted = Temporal.PlainDateTime.from(`${date}T${time}`);
  const first = wanted.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (first.toPlainDateTime().equals(wanted)) return first.epochMilliseconds;
  // In a gap, 'earlier' yields a time before the gap, so the next transition is the gap's end.
  const end = first.getTimeZoneTransition('next');
  return (end ?? wanted.toZonedDateTime(timeZone)).epochMilliseconds;
}

/** The local day of an instant, such as 2027-01-31. */
export function localDateOf(epochMs: number, timeZone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/** First instant after the local day of this instant. */
export function endOfLocalDay(epochMs: number, timeZone: string): number {
  return instantOf(addDays(localDateOf(epochMs, timeZone), 1), '00:00', timeZone);
}

/** The day `days` after this one. */
export function addDays(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

/** Position of a subscription in every spread: 0 to just below 1, never changes. */
export function fractionOf(reference: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = sha256(utf8ToBytes(reference));
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}

/**
 * Delays a due time by up to `maxMs`, so that bills of the same minute aren't all sent at once. Never beyond the local
 * day, however late in the day it is due.
 */
export function spread(dueAt: number, maxMs: number, fraction: number, timeZone: string): number {
  if (maxMs <= 0) return dueAt;
  const room = Math.min(maxMs, endOfLocalDay(dueAt, timeZone) - dueAt);
  return dueAt + Math.floor(fraction * room);
}
