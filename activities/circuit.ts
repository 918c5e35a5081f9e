import { SLOW_CALL_MS } from '../src/domain/schedules.js';

/** In view are the last calls of the last minute. */
const IN_VIEW = 20;
const VIEW_MS = 60_000;
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

  constructor(readonly opensFrom: number) {}

  isOpen(now: number): boolean {
    const inView = this.#ended.filter(({ at }) => at > now - VIEW_MS);
    const bad = inView.filter(({ isGood }) => !isGood).length;
    let slow = 0;
    for (const { begunAt } of this.#underWay) {
      if (now - begunAt <= SLOW_CALL_MS) break;
      slow += 1;
    }
    const all = inView.length + slow;
    return all >= this.opensFrom && (bad + slow) * 2 >= all;
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
    if (isGood && call.isProbe) this.#ended = [];
    else this.#ended = [...this.#ended.slice(1 - IN_VIEW), { at: now, isGood }];
  }

  /** For a call whose end says nothing about the service. */
  forget(call: Call): void {
    this.#underWay.delete(call);
  }
}
