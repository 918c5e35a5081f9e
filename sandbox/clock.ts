/**
 * The sandbox's time: real time plus an offset that only grows. Everything that expires or is due (keys, tokens, CVVs,
 * pending transactions, resends) reads only this clock.
 */
export class SandboxClock {
  constructor(private offset: number = 0) {}

  /** Epoch milliseconds. */
  now(): number {
    return Date.now() + this.offset;
  }

  get offsetMs(): number {
    return this.offset;
  }

  set offsetMs(value: number) {
    this.offset = value;
  }
}
