/**
 * ms to wait by a `Retry-After` header, which is a number of seconds or an HTTP date (RFC 9110, 10.2.3).
 * A date is measured against the answer's own `Date`, so that a clock that differs from ours does no harm.
 * Undefined when there is none, or none that can be read; a time that has passed is 0.
 */
export function retryAfterMs(header: string | undefined, date: string | undefined, now: number): number | undefined {
  const value = header?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,10}$/.test(value)) return Number(value) * 1000;
  const until = httpDate(value);
  if (until === undefined) return undefined;
  return Math.max(0, until - ((date === undefined ? undefined : httpDate(date)) ?? now));
}

/** Only what looks like one of the three forms of an HTTP date: `Date.parse` takes `-5` for a date too. */
function httpDate(value: string): number | undefined {
  if (!/^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/.test(value)) return undefined;
  const time = Date.parse(/(GMT|UTC)$/.test(value) ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
