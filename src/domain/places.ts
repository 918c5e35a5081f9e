/** Gives a place back. */
type GiveBack = () => void;

/**
 * Places for what is under way or waits: events, and notifications to merchants. With several business units none may take
 * more than half, so that a burst of one unit, or an endpoint of it that hangs, delays no other's.
 */
export function createPlaces(most: number, units: number): (unit: string) => GiveBack | undefined {
  const mostOfOne = units > 1 ? Math.ceil(most / 2) : most;
  const taken = new Map<string, number>();
  let all = 0;
  return (unit) => {
    const own = taken.get(unit) ?? 0;
    if (all >= most || own >= mostOfOne) return undefined;
    all += 1;
    taken.set(unit, own + 1);
    return () => {
      all -= 1;
      taken.set(unit, (taken.get(unit) ?? 1) - 1);
    };
  };
}
