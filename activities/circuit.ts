import { SLOW_CALL_MS } from '../src/domain/schedules.js';

/** In view are the last calls of the last minute. */
const IN_VIEW = 20;
export const VIEW_MS = 60_000;
/** ms. While the circuit is open, one first try is let through this often to see whether the service is well again. */
const PROBE_EVERY = 5_000;

/** A call in the view of a circuit. */
export interface Call {
  begunAt: number;
  isProbe: boolean;
}

/** Tells from the last calls whether a service is slow or failing. Times are ms of one clock. */
export class Circuit {
  /** The last ones that have ended. */
  #ended: { at: number; isGood: boolean }[] = [];
  /** In the order in which they began. */
  readonly #underWay = new Set<Call>();
  #probedAt = Number.NEGATIVE_INFINITY;
  #probes = false;
  #wasOpen = false;

  constructor(readonly opensFrom: number) {}

  /** Opens by many calls, and stays open until most in view are good, or there are none. */
  isOpen(now: number): boolean {
    const inView = this.#inView(now);
    const bad = inView.filter(({ isGood }) => !isGood).length;
    let slow = 0;
    for (const { begunAt } of this.#underWay) {
      if (now - begunAt <= SLOW_CALL_MS) break;
      slow += 1;
    }
    const all = inView.length + slow;
    // The retries of a few flows are seldom: that they fail, too, is no sign that the service is well again.
    this.#wasOpen = all >= (this.#wasOpen ? 1 : this.opensFrom) && (bad + slow) * 2 >= all;
    return this.#wasOpen;
  }

  /** Whether there is anything to tell by. */
  isSeen(now: number): boolean {
    return this.#inView(now).length > 0;
  }

  #inView(now: number): { isGood: boolean }[] {
    return this.#ended.filter(({ at }) => at > now - VIEW_MS);
  }

  /** Whether a first try may be sent now. While the circuit is open it is a probe, which {@link begin} must follow. */
  letsThrough(now: number): boolean {
    if (!this.isOpen(now)) return true;
    if (now - this.#probedAt < PROBE_EVERY) return false;
    this.#probedAt = now;
    this.#probes = true;
    return true;
  }

  begin(now: number): Call {
    const call = { begunAt: now, isProbe: this.#probes };
    this.#probes = false;
    this.#underWay.add(call);
    return call;
  }

  /** @param answered by the service, if only with a refusal */
  end(call: Call, now: number, answered: boolean): void {
    this.#underWay.delete(call);
    const isGood = answered && now - call.begunAt <= SLOW_CALL_MS;
    if (isGood && call.isProbe) this.#ended = [{ at: now, isGood }];
    else this.#ended = [...this.#ended.slice(1 - IN_VIEW), { at: now, isGood }];
  }

  /** For a call whose end says nothing about the service. */
  forget(call: Call): void {
    this.#underWay.delete(call);
  }
}
