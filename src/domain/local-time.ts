import { Temporal } from 'temporal-polyfill';

/**
 * Epoch ms of a local day and time (`2027-01-31`, `10:00`). A time that daylight saving leaves out becomes the
 * first instant after the gap, which for a day that a zone left out is the beginning of the next one; of a time
 * that comes twice, the first.
 * @throws RangeError for what is no day or time, and for a zone that this Node version does not know
 */
export function instantOf(date: string, time: string, timeZone: string): number {
  const wanted = Temporal.PlainDateTime.from(`${date}T${time}`);
  const first = wanted.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (first.toPlainDateTime().equals(wanted)) return first.epochMilliseconds;
  // In a gap, 'earlier' is the instant as many minutes before it as the time is inside.
  const end = first.getTimeZoneTransition('next');
  return (end ?? wanted.toZonedDateTime(timeZone)).epochMilliseconds;
}

/** The local day of an instant, as 2027-01-31. */
export function localDateOf(epochMs: number, timeZone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(epochMs).toZonedDateTimeISO(timeZone).toPlainDate().toString();
}

/** First instant after the local day that this instant belongs to. */
export function endOfLocalDay(epochMs: number, timeZone: string): number {
  return instantOf(addDays(localDateOf(epochMs, timeZone), 1), '00:00', timeZone);
}

/** The day `days` after this one. */
export function addDays(date: string, days: number): string {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}
