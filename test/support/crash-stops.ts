import { EventEmitter, once } from 'node:events';

/** Before the call is passed on, or after its answer came and before the caller has it. */
type Side = 'before' | 'after';

/** One side of the `nth` call of this name that one flow's worker makes, counted from 1. */
export interface Stop {
  readonly call: string;
  readonly nth: number;
  readonly side: Side;
}

export type Verdict = 'go on' | 'drop';

interface Travel {
  readonly counts: Map<string, number>;
  readonly calls: { call: string; nth: number }[];
  stop?: Stop | undefined;
  reached: boolean;
  /** From an activity's end that was passed on to the end of the workflow task that it makes. */
  busy: boolean;
  /** Was released: from then on nothing is put into order any more. */
  free: boolean;
  lost?: Omit<Stop, 'side'> | undefined;
}

interface Held {
  readonly reference: string;
  readonly stop: Stop;
  readonly free: (verdict: Verdict) => void;
}

/** Counts the calls that a worker makes for each flow, and holds those at which somebody wants to look, or to kill. */
export class CrashStops {
  readonly #travels = new Map<string, Travel>();
  readonly #held = new Set<Held>();
  readonly #changed = new EventEmitter().setMaxListeners(0);

  /** Only calls of flows that were announced are counted. `lost` is a call that never arrives anywhere. */
  announce(reference: string, plan: { stop?: Stop | undefined; lost?: Omit<Stop, 'side'> | undefined } = {}): void {
    this.#travels.set(reference, { counts: new Map(), calls: [], reached: false, busy: false, free: false, ...plan });
  }

  /** The announced reference that a text names. */
  referenceIn(text: { includes(part: string): boolean }): string | undefined {
    for (const reference of this.#travels.keys()) if (text.includes(reference)) return reference;
    return undefined;
  }

  /** Every call of the flow so far, in order. */
  callsOf(reference: string): readonly Omit<Stop, 'side'>[] {
    return this.#travels.get(reference)?.calls ?? [];
  }

  hasReached(reference: string): boolean {
    return this.#travels.get(reference)?.reached ?? false;
  }

  /** Releases what is held, each as `verdictOf` says; what it says nothing about stays held. */
  release(verdictOf: (reference: string, stop: Stop) => Verdict | undefined): void {
    for (const held of this.#held) {
      const verdict = verdictOf(held.reference, held.stop);
      if (verdict === undefined) continue;
      this.#held.delete(held);
      held.free(verdict);
    }
  }

  /** After a kill: nothing waits for what the dead have not done. */
  disorder(): void {
    for (const travel of this.#travels.values()) travel.free = true;
    this.#changed.emit('changed');
  }

  /** For proxies: one call passes through `forward`, held where it was planned. Undefined when it was dropped. */
  async pass<Answer>(reference: string, call: string, forward: () => Promise<Answer>): Promise<Answer | undefined> {
    const travel = this.#travels.get(reference);
    if (travel === undefined) return await forward();
    // Activities that run side by side end in any order and number per workflow task: one after the other they all
    // write the same history.
    if (call.startsWith('RespondActivity')) {
      while (travel.busy && !travel.free) await once(this.#changed, 'changed');
      travel.busy = true;
    }
    if (!call.startsWith('RespondWorkflow')) return await this.#count(reference, travel, call, forward);
    travel.busy = true;
    try {
      return await this.#count(reference, travel, call, forward);
    } finally {
      travel.busy = false;
      this.#changed.emit('changed');
    }
  }

  async #count<Answer>(
    reference: string,
    travel: Travel,
    call: string,
    forward: () => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const nth = (travel.counts.get(call) ?? 0) + 1;
    travel.counts.set(call, nth);
    travel.calls.push({ call, nth });
    if (travel.lost?.call === call && travel.lost.nth === nth) return undefined;
    if ((await this.#hold(reference, travel, { call, nth, side: 'before' })) === 'drop') return undefined;
    const answer = await forward();
    return (await this.#hold(reference, travel, { call, nth, side: 'after' })) === 'drop' ? undefined : answer;
  }

  async #hold(reference: string, travel: Travel, here: Stop): Promise<Verdict> {
    const { stop } = travel;
    if (stop?.call !== here.call || stop.nth !== here.nth || stop.side !== here.side) return 'go on';
    // Once only: what the next worker sends is not to be held again.
    travel.stop = undefined;
    travel.reached = true;
    return await new Promise<Verdict>((free) => this.#held.add({ reference, stop, free }));
  }
}
