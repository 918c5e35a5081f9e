const FORMAT = { day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;

/**
 * "6 March 2027 at 10:00 Europe/Rome". For people only: nothing may be decided by it, since another version of Node
 * may know other rules for the zone.
 */
export function localTime(epochMs: number, timeZone: string): string {
  try {
    return `${new Intl.DateTimeFormat('en-GB', { ...FORMAT, timeZone }).format(epochMs)} ${timeZone}`;
  } catch {
    return new Date(epochMs).toISOString();
  }
}
