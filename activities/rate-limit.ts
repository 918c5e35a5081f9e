import { CALL_PRIORITIES, type CallPriority } from '../src/contract/activities.js';

/** ms. A call waits no longer for its turn: it comes back later. Its activity leaves 5 s beside the call itself. */
const LONGEST_WAIT = 3_000;
/** One turn in so many goes to one of the classes that others would overtake for ever, by turns. */
const OTHERS_TURN = 8;
/** ms. What was not called within this time is not made up for: the service would see a burst. */
const MADE_UP_FOR = 20;
/** Calls of a class that wait at a time: each holds a place of the worker. */
const MOST_WAITING = 50;
/** ms. In view are the calls that were sent away within this time. */
const VIEW_MS = 60_000;
/** ms. */
const SHORTEST_RETURN = 1_000;
const LONGEST_RETURN = 60_000;

interface Waiting {
  since: number;
  end(hasTurn: boolean): void;
}

/**
 * Turns of one unit's calls, at most so many per second. What waits goes by its class, and then in order; now and then
 * one of a class that others overtake has its turn. Only calls of the first class may exceed the limit.
 */
export class RateLimit {
  #turns = 1;
  #countedAt: number;
  #given = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whose turn the next one out of the order is. */
  #next = 0;
  readonly #waiting = new Map<CallPriority, Waiting[]>();
  /** When calls were sent away, by class. */
  readonly #sentAway = new Map<CallPriority, number[]>();

  /** @param now ms, of a clock that is never put back */
  constructor(
    readonly perSecond: number,
    readonly now: () => number = () => performance.now(),
  ) {
    this.#countedAt = now();
  }

  /** For a call that must not wait: true if it has a turn. */
  atOnce(): boolean {
    this.#count();
    if (this.#turns < 1 || this.#lines().length > 0) return false;
    this.#turns -= 1;
    return true;
  }

  /**
   * True once the call has its turn; false if it has waited in vain, or others would not leave it one in time. A call of
   * the first class is sent nevertheless, and takes a turn from those that follow.
   * @param mayWait the worker has room for one more call that waits; else one of a later class may leave its room
   */
  async inTurn(priority: CallPriority, mayWait = true): Promise<boolean> {
    if (this.atOnce()) return true;
    const line = this.#waiting.get(priority) ?? [];
    this.#waiting.set(priority, line);
    const most = Math.min(MOST_WAITING, Math.max(1, (this.perSecond * LONGEST_WAIT) / 1_000));
    const hasTurn =
      line.length < most &&
      (mayWait || this.#makesRoom(priority)) &&
      (await new Promise<boolean>((end) => {
        line.push({ since: this.now(), end });
        this.#wait();
      }));
    if (hasTurn) return true;
    if (priority === CALL_PRIORITIES.deadline) return this.#goesAhead();
    this.#awayOf(priority).push(this.now());
    return false;
  }

  /** ms after which a call that was sent away comes back: later, the more of its class there are. */
  returnAfter(priority: CallPriority): number {
    const since = this.now() - VIEW_MS;
    const away = this.#awayOf(priority);
    while ((away[0] ?? since) < since) away.shift();
    const ms = (away.length / this.perSecond) * 1_000;
    return Math.round(Math.min(LONGEST_RETURN, Math.max(SHORTEST_RETURN, ms)) * (0.5 + Math.random()));
  }

  /** Sends the last one of the last class away. One of each class stays, for the turns that others leave it. */
  #makesRoom(priority: CallPriority): boolean {
    const later = [...this.#waiting].filter(([other, { length }]) => other > priority && length > 1);
    const [, line] = later.sort(([one], [other]) => other - one)[0] ?? [];
    line?.pop()?.end(false);
    return line !== undefined;
  }

  /** As long as many do so the others would have no turn: every eighth time one of them goes as well. */
  #goesAhead(): true {
    this.#takeTurn();
    this.#given += 1;
    if (this.#given % OTHERS_TURN === 0) this.#letGo(this.#inTheirTurn(this.#lines(CALL_PRIORITIES.deadline)));
    return true;
  }

  #letGo(line: Waiting[] | undefined): void {
    const next = line?.shift();
    if (next === undefined) return;
    this.#takeTurn();
    next.end(true);
  }

  /** One that is not there is missing later, up to a second's: the service would see more calls than it allows. */
  #takeTurn(): void {
    this.#turns = Math.max(this.#turns - 1, -Math.max(1, this.perSecond));
  }

  #awayOf(priority: CallPriority): number[] {
    const away = this.#sentAway.get(priority) ?? [];
    this.#sentAway.set(priority, away);
    return away;
  }

  #count(): void {
    const now = this.now();
    const most = Math.max(1, (this.perSecond * MADE_UP_FOR) / 1_000);
    this.#turns = Math.min(most, this.#turns + ((now - this.#countedAt) * this.perSecond) / 1_000);
    this.#countedAt = now;
  }

  /** Where somebody waits, first class first. */
  #lines(without?: CallPriority): Waiting[][] {
    const waiting = [...this.#waiting].filter(([priority, line]) => priority !== without && line.length > 0);
    return waiting.sort(([one], [other]) => one - other).map(([, line]) => line);
  }

  /** Until there is a turn, or a call has waited for `LONGEST_WAIT`. */
  #wait(): void {
    clearTimeout(this.#timer);
    const first = Math.min(...this.#lines().map(([next]) => next?.since ?? Number.POSITIVE_INFINITY));
    if (first === Number.POSITIVE_INFINITY) return;
    const turnIn = ((1 - this.#turns) * 1_000) / this.perSecond;
    const ms = Math.max(1, Math.min(turnIn, first + LONGEST_WAIT - this.now()));
    this.#timer = setTimeout(() => this.#giveTurns(), Math.ceil(ms));
  }

  #giveTurns(): void {
    this.#count();
    const lost = this.now() - LONGEST_WAIT;
    for (const line of this.#waiting.values())
      while ((line[0]?.since ?? Number.POSITIVE_INFINITY) <= lost) line.shift()?.end(false);
    for (; this.#turns >= 1; this.#turns -= 1) {
      const next = this.#nextLine()?.shift();
      if (next === undefined) break;
      next.end(true);
    }
    this.#wait();
  }

  /** The line of the first class that waits or, now and then, of another one in turn. */
  #nextLine(): Waiting[] | undefined {
    const [first, ...others] = this.#lines();
    this.#given += 1;
    return others.length > 0 && this.#given % OTHERS_TURN === 0 ? this.#inTheirTurn(others) : first;
  }

  #inTheirTurn(lines: Waiting[][]): Waiting[] | undefined {
    this.#next += 1;
    return lines[this.#next % lines.length];
  }
}
