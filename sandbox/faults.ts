import { randomUUID } from 'node:crypto';
import { matchesGlob } from './glob.js';
import type { Fault, FaultAction } from './fault-record.js';
import type { Store } from './store.js';

/** The request or event that faults are matched against. */
export interface FaultTarget {
  method?: string;
  /** Request path without its query, or an event type. */
  path: string;
  /** Called only if a fault names one. */
  reconciliationIds: () => readonly string[];
}

const EVENT_ACTIONS: readonly FaultAction[] = ['lose_event', 'repeat_event', 'delay_event'];
const REQUEST_ACTIONS: readonly FaultAction[] = ['drop_reply', 'refuse', 'status', 'garbage'];

/** Planted faults, matched in the order in which they were planted. */
export class Faults {
  constructor(
    private readonly store: Store,
    private readonly random: () => number = Math.random,
  ) {}

  add(fault: Omit<Fault, 'id' | 'fired'>): Fault {
    const planted = { id: randomUUID(), ...fault, fired: 0 };
    this.store.transaction(() => this.store.faults.put(planted));
    return planted;
  }

  list(): Fault[] {
    return [...this.store.faults.values()];
  }

  remove(id: string): boolean {
    const found = this.store.faults.get(id) !== undefined;
    this.store.transaction(() => this.store.faults.delete(id));
    return found;
  }

  removeAll(): void {
    this.store.transaction(() => {
      for (const { id } of this.list()) this.store.faults.delete(id);
    });
  }

  /** Returns the faults of a request: the sum of all delays, and at most one other action. */
  forRequest(target: FaultTarget): { delayMs: number; fault: Fault | undefined } {
    if (this.store.faults.size === 0) return { delayMs: 0, fault: undefined };
    return this.store.transaction(() => {
      const delays = this.fire(['delay'], target, Infinity);
      const [fault] = this.fire(REQUEST_ACTIONS, target, 1);
      return { delayMs: sumOfDelays(delays), fault };
    });
  }

  /** Returns the planted result that replaces the one that a transaction's card triggers. */
  forResult(target: FaultTarget): Fault | undefined {
    return this.store.faults.size === 0 ? undefined : this.fire(['result'], target, 1)[0];
  }

  /** Returns the faults of one event to one endpoint. */
  forEvent(target: FaultTarget): { lost: boolean; repeats: number; delayMs: number } {
    if (this.store.faults.size === 0) return { lost: false, repeats: 0, delayMs: 0 };
    const fired = this.fire(EVENT_ACTIONS, target, Infinity);
    return {
      lost: fired.some((fault) => fault.action === 'lose_event'),
      repeats: fired.filter((fault) => fault.action === 'repeat_event').length,
      delayMs: sumOfDelays(fired.filter((fault) => fault.action === 'delay_event')),
    };
  }

  private fire(actions: readonly FaultAction[], target: FaultTarget, atMost: number): Fault[] {
    const fired: Fault[] = [];
    for (const fault of this.list()) {
      if (fired.length >= atMost) break;
      if (!actions.includes(fault.action) || !fits(fault, target)) continue;
      if (fault.probability < 1 && this.random() >= fault.probability) continue;
      this.store.faults.put({ ...fault, fired: fault.fired + 1, ...(fault.times && { times: fault.times - 1 }) });
      fired.push(fault);
    }
    return fired;
  }
}

function fits(fault: Fault, target: FaultTarget): boolean {
  if (fault.times === 0) return false;
  if (fault.method !== undefined && target.method !== undefined && !matchesGlob(fault.method, target.method)) {
    return false;
  }
  if (fault.path !== undefined && !matchesGlob(fault.path, target.path)) return false;
  const { reconciliation_id: wanted } = fault;
  return wanted === undefined || target.reconciliationIds().some((id) => matchesGlob(wanted, id));
}

function sumOfDelays(faults: readonly Fault[]): number {
  return faults.reduce((sum, fault) => sum + (fault.delay_ms ?? 0), 0);
}
