import { AsyncLocalStorage } from 'node:async_hooks';
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { CALL_PRIORITIES, type CallPriority } from '../src/contract/activities.js';
import { FAILURE_TYPES } from '../src/contract/names.js';
import { OPERATIONS, type OperationName, type ProviderClient, ProviderError } from '../src/provider/index.js';
import { SLOW_CALL_MS } from '../src/domain/schedules.js';
import { type Call, Circuit, VIEW_MS } from './circuit.js';
import type { RateLimit } from './rate-limit.js';
import { CallHeldBack } from './to-application-failure.js';

/**
 * ms. A call without a place comes back after this, doubled at each attempt up to the longest, with jitter. A read has
 * but three attempts.
 */
const FIRST_RETURN = { posts: 1_000, reads: 5_000 };
/** ms. Later its activity would have ended. */
const LONGEST_RETURN_OF_READS = 10_000;
const MAY_BECOME_URGENT: ReadonlySet<string> = new Set<OperationName>(['createCapture', 'createVoid']);

/** ms. A `Retry-After` holds the other POSTs of its unit back no longer, whatever it says. */
const LONGEST_HOLD = 60_000;

/** The end of a sentence. */
const WHY = {
  'circuit open': `its last calls failed or took more than ${SLOW_CALL_MS / 1_000} s`,
  'half of the places': 'its calls hold half of the places of this worker',
  'Retry-After': 'its service has asked for fewer calls',
  'calls per second': 'others of it go first, and callsPerSecond allows no more',
} as const;

export type HeldBackBecause = keyof typeof WHY;
export const HELD_BACK_BECAUSE = Object.keys(WHY) as readonly HeldBackBecause[];

export interface BulkheadOptions {
  /** Calls of one unit at a time. */
  places: {
    /** By local activities, each of which holds a workflow task. */
    local: number;
    /** By regular activities. Reads have places of their own: what has become of a POST must be seen while others wait. */
    posts: number;
    reads: number;
    /** Calls that wait for their turn, where the unit has a limit. */
    waiting: number;
  };
  /** ms after which a call that is held back comes back at the latest, on average. */
  longestReturn: number;
  /** By business unit; a unit without one has no limit. All workers of a process share them. */
  limits?: ReadonlyMap<string, RateLimit> | undefined;
  /** The circuit of a unit opens when at least so many calls are in view, and half of them are bad. */
  opensFrom: number;
  /** ms, of a clock that is never put back. */
  now(): number;
  observer?: UnitObserver | undefined;
}

/**
 * The places of one unit in a worker: half of its tasks and half of its calls, however slow the service is. Calls that
 * wait for their turn are among them.
 */
export function placesOf({ tasks, calls }: { tasks: number; calls: number }): BulkheadOptions['places'] {
  return {
    local: Math.floor(tasks / 2),
    posts: Math.floor(calls / 4),
    reads: Math.floor(calls / 8),
    waiting: Math.floor(calls / 8),
  };
}

/** `unseen`: it was open, and for a minute nothing was called. */
export type CircuitState = 'open' | 'closed' | 'unseen';

/** Is told what becomes of the units' calls, for logs and metrics. */
export interface UnitObserver {
  circuit(businessUnit: string, state: CircuitState): void;
  heldBack(businessUnit: string, because: HeldBackBecause): void;
}

/**
 * Clients that keep a slow or failing service of one unit from taking the places of the others. A call that is held
 * back is proven not to have left: a first try is then left to the regular activity, and a regular one is tried again
 * later, both under the same key.
 */
export function withBulkheads(
  providers: ReadonlyMap<string, ProviderClient>,
  options: BulkheadOptions,
): Map<string, ProviderClient> {
  return new Map([...providers].map(([unit, provider]) => [unit, guarded(provider, new Bulkhead(unit, options))]));
}

function guarded(provider: ProviderClient, bulkhead: Bulkhead): ProviderClient {
  const methods = (Object.keys(OPERATIONS) as OperationName[]).map((name) => {
    const send = provider[name].bind(provider) as (...given: unknown[]) => Promise<unknown>;
    return [name, (...given: unknown[]) => bulkhead.pass(name, () => send(...given))];
  });
  return { ...Object.fromEntries(methods), close: () => provider.close() } as ProviderClient;
}

/** Calls of one unit. */
class Bulkhead {
  readonly #circuit: Circuit;
  readonly #limit: RateLimit | undefined;
  readonly #underWay = { local: 0, posts: 0, reads: 0, waiting: 0 };
  #wasOpen = false;
  #telling: ReturnType<typeof setTimeout> | undefined;
  /** Until when the service wants no more calls. */
  #heldUntil = Number.NEGATIVE_INFINITY;

  constructor(
    readonly unit: string,
    readonly options: BulkheadOptions,
  ) {
    this.#circuit = new Circuit(options.opensFrom);
    this.#limit = options.limits?.get(unit);
  }

  /** @throws ProviderError for a call that is held back: nothing of it was sent */
  async pass<Answer>(name: OperationName, send: () => Promise<Answer>): Promise<Answer> {
    const { isLocal } = activityInfo();
    this.#refuse(name);
    if (isLocal && !this.#circuit.letsThrough(this.options.now())) {
      this.#tellOfCircuit();
      throw this.#heldBack(name, 'circuit open', undefined);
    }
    const probe = isLocal ? this.#circuit.begin(this.options.now()) : undefined;
    if (this.#limit !== undefined && !(await this.#hasTurn(this.#limit))) {
      if (probe !== undefined) this.#circuit.forget(probe);
      throw this.#heldBack(name, 'calls per second', isLocal ? undefined : this.#nextTurn(name, this.#limit));
    }
    // While it waited for its turn its time may have ended, and others may have taken the places.
    if (!isLocal && this.#limit !== undefined) {
      if (isOver()) throw this.#heldBack(name, 'calls per second', undefined);
      this.#refuse(name);
    }
    const where = placeOf(name);
    this.#underWay[where] += 1;
    try {
      return await this.#watch(name, probe ?? this.#circuit.begin(this.options.now()), send);
    } finally {
      this.#underWay[where] -= 1;
      this.#tellOfCircuit();
    }
  }

  /** @throws ProviderError if the call finds no place, or the service wants none */
  #refuse(name: OperationName): void {
    const { isLocal, attempt, activityType } = activityInfo();
    const where = placeOf(name);
    // A capture or void with less than an hour left, or what it reads first.
    const isUrgent = !isLocal && priorityOf() === CALL_PRIORITIES.deadline;
    const waitMs = this.#heldUntil - this.options.now();
    // They come back one by one, and not all at the moment that the service named.
    if (waitMs > 0 && where !== 'reads' && !isUrgent)
      throw this.#heldBack(name, 'Retry-After', isLocal ? undefined : Math.ceil(waitMs * (1 + Math.random() / 2)));
    // Those with more time left will have as little.
    const takesAny = isUrgent || (!isLocal && MAY_BECOME_URGENT.has(activityType));
    if (!this.#hasPlace(where, takesAny))
      throw this.#heldBack(
        name,
        'half of the places',
        where === 'local' ? undefined : this.#returnAfter(FIRST_RETURN[where], attempt),
      );
  }

  /** @param takesAny the places of calls that wait for their turn as well */
  #hasPlace(where: keyof BulkheadOptions['places'], takesAny = false): boolean {
    const { local, ...places } = this.options.places;
    const { local: _tasks, ...underWay } = this.#underWay;
    if (where === 'local') return this.#underWay.local < local;
    // What waits and what takes its places leave those of reads alone.
    const most = places[where] + (takesAny ? places.waiting - underWay.waiting : 0);
    return underWay[where] < most && sum(underWay) < sum(places);
  }

  #nextTurn(name: OperationName, limit: RateLimit): number {
    const ms = limit.returnAfter(priorityOf());
    return placeOf(name) === 'reads' ? Math.min(ms, LONGEST_RETURN_OF_READS) : ms;
  }

  async #hasTurn(limit: RateLimit): Promise<boolean> {
    if (limit.atOnce()) return true;
    // It holds a task.
    if (activityInfo().isLocal) return false;
    const mayWait = this.#hasPlace('waiting');
    this.#underWay.waiting += 1;
    try {
      return await limit.inTurn(priorityOf(), mayWait);
    } finally {
      this.#underWay.waiting -= 1;
    }
  }

  async #watch<Answer>(name: OperationName, call: Call, send: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await send();
      this.#circuit.end(call, this.options.now(), true);
      return answer;
    } catch (error) {
      const now = this.options.now();
      if (wasGivenUp(error)) this.#circuit.forget(call);
      else this.#circuit.end(call, now, isAnswer(error));
      // Reads are not held back, so that each of them would hold every POST back once more.
      // A refusal speaks of its own payment or key, not of the others of the unit.
      const asks = error instanceof ProviderError && OPERATIONS[name].method !== 'GET' && !isAnswer(error);
      const retryAfterMs = asks ? (error.retryAfterMs ?? 0) : 0;
      this.#heldUntil = Math.max(this.#heldUntil, now + Math.min(retryAfterMs, LONGEST_HOLD));
      throw error;
    }
  }

  #heldBack(operation: OperationName, because: HeldBackBecause, retryAfterMs: number | undefined): CallHeldBack {
    this.options.observer?.heldBack(this.unit, because);
    return new CallHeldBack(`${operation}: not sent yet for business unit "${this.unit}": ${WHY[because]}`, {
      kind: 'refused',
      operation,
      mayHaveLeft: false,
      failureType: FAILURE_TYPES.providerUnavailable,
      retryAfterMs,
    });
  }

  #returnAfter(first: number, attempt: number): number {
    return Math.round(Math.min(this.options.longestReturn, first * 2 ** (attempt - 1)) * (0.5 + Math.random()));
  }

  #tellOfCircuit(): void {
    this.#tellWhatChanged();
    clearTimeout(this.#telling);
    // Without a further call nobody would be told that there are none any more. A timer may fire a moment before its time,
    // and would still see the last call.
    if (this.#wasOpen) this.#telling = setTimeout(() => this.#tellWhatChanged(), VIEW_MS + 1_000).unref();
  }

  #tellWhatChanged(): void {
    const isOpen = this.#circuit.isOpen(this.options.now());
    if (isOpen === this.#wasOpen) return;
    this.#wasOpen = isOpen;
    const state = isOpen ? 'open' : this.#circuit.isSeen(this.options.now()) ? 'closed' : 'unseen';
    this.options.observer?.circuit(this.unit, state);
  }
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}

function placeOf(name: OperationName): 'local' | 'posts' | 'reads' {
  if (activityInfo().isLocal) return 'local';
  return OPERATIONS[name].method === 'GET' ? 'reads' : 'posts';
}

const urgency = new AsyncLocalStorage<number>();

/** @param from epoch ms; undefined: never. From then on what `call` sends goes before all others of its unit. */
export function urgentFrom<Result>(from: number | undefined, call: () => Promise<Result>): Promise<Result> {
  return from === undefined ? call() : urgency.run(from, call);
}

function priorityOf(): CallPriority {
  if (Date.now() >= (urgency.getStore() ?? Number.POSITIVE_INFINITY)) return CALL_PRIORITIES.deadline;
  return (activityInfo().priority?.priorityKey as CallPriority | undefined) ?? CALL_PRIORITIES.command;
}

/** Its activity was cancelled, or must not send any more: a POST never leaves after its window (money rule 4). */
function isOver(): boolean {
  const { scheduledTimestampMs, scheduleToCloseTimeoutMs } = activityInfo();
  const until = scheduleToCloseTimeoutMs > 0 ? scheduledTimestampMs + scheduleToCloseTimeoutMs : Infinity;
  return cancellationSignal().aborted || Date.now() >= until;
}

function wasGivenUp(error: unknown): boolean {
  return error instanceof ProviderError && (error.code === 'ABORTED' || error.kind === 'request');
}

function isAnswer(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.kind !== 'http') return false;
  return error.failureType !== FAILURE_TYPES.providerUnavailable && error.failureType !== FAILURE_TYPES.rateLimited;
}
