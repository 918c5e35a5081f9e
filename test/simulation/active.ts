/** The simulation of this process, if there is one: its clock runs while a test does, and stands between tests. */
export interface Clock {
  run(what?: string): void;
  pause(): void;
}

let active: Clock | undefined;

export function activate(clock: Clock | undefined): void {
  active = clock;
}

export function runClock(what: string): void {
  active?.run(what);
}

export function pauseClock(): void {
  active?.pause();
}
