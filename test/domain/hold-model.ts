import fc from 'fast-check';
import type { Happening, Phase } from '../../src/domain/flow-states.js';
import { isFinalPhase, nextPhase } from '../../src/domain/flow-states.js';
import type { HoldTerms, Pursuit } from '../../src/domain/hold.js';
import { holdAct } from '../../src/domain/hold.js';

const FLOW = 'authorizeAndCapture';
const HOUR = 3_600_000;

/** How an operation under way ends. `unconfirmed`: it failed, and yet it may have been done. */
export type Answer = 'done' | 'failed' | 'absent' | 'refused' | 'unconfirmed';

export type Event =
  | { event: 'pass'; ms: number }
  | { event: 'capture'; amount: number }
  | { event: 'void' }
  | { event: 'cancel' }
  | { event: 'elsewhere'; what: 'captured' | 'voided' }
  /** `moved`: whether an unconfirmed one was done all the same. */
  | { event: 'answer'; answer: Answer; moved: boolean };

const ANSWERS: readonly Answer[] = ['done', 'failed', 'absent', 'refused', 'unconfirmed'];

const OFTEN: fc.Arbitrary<Event>[] = [
  fc.record({ event: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 40 * HOUR }) }),
  fc.record({
    event: fc.constant('answer' as const),
    answer: fc.constantFrom(...ANSWERS),
    moved: fc.boolean(),
  }),
  fc.record({ event: fc.constant('capture' as const), amount: fc.integer({ min: 1, max: 120 }) }),
];
const RARELY: fc.Arbitrary<Event>[] = [
  fc.constant({ event: 'void' as const }),
  fc.constant({ event: 'cancel' as const }),
  fc.record({
    event: fc.constant('elsewhere' as const),
    what: fc.constantFrom('captured' as const, 'voided' as const),
  }),
];

/** What ends a story early has to be rare in it. */
export const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 20, arbitrary: fc.oneof(...OFTEN) },
  { weight: 1, arbitrary: fc.oneof(...RARELY) },
);

/**
 * One hold of 100 as the flow leads it, before a service that would take any capture of ours as long as the hold
 * stands: whatever keeps the money from moving twice has to be in the rules that the flow goes by.
 */
export class HoldModel {
  phase: Phase = 'held';
  readonly phases: Phase[] = ['held'];
  /** Amounts of our captures that the service has executed, those that nobody confirmed included. */
  readonly captures: number[] = [];
  /** Operations that were sent. */
  sent = 0;
  heldElsewhere: 'held' | 'captured' | 'voided' = 'held';
  voided = false;
  #now: number;
  #underWay = 0;
  #mustVoid = false;
  #unconfirmed = false;
  #byDeadline = false;
  #pursuit = { tries: 0, lastTryAt: 0, captureFailed: false };

  constructor(
    readonly terms: HoldTerms,
    readonly onDeadline: Pursuit['onDeadline'],
    start: number,
  ) {
    this.#now = start;
  }

  get ended(): boolean {
    return isFinalPhase(FLOW, this.phase);
  }

  hear(event: Event): void {
    if (event.event === 'pass') this.#now += event.ms;
    else if (event.event === 'cancel') this.#mustVoid = true;
    else if (event.event === 'elsewhere') this.#elsewhere(event.what);
    else if (event.event === 'answer') this.#answer(event.answer, event.moved);
    else this.#command(event);
    this.#look();
  }

  /** Nothing but time and failures from here on: the number of rounds until it has ended. */
  drain(): number {
    for (let rounds = 0; rounds < 1_000; rounds += 1) {
      if (this.ended) return rounds;
      if (this.phase !== 'held') this.hear({ event: 'answer', answer: 'failed', moved: false });
      else this.hear({ event: 'pass', ms: HOUR });
    }
    throw new Error(`a hold stays ${this.phase} for ever`);
  }

  /** What the clock asks for. */
  #look(): void {
    if (this.phase !== 'held') return;
    const captureFailed = this.#pursuit.captureFailed || this.#unconfirmed;
    const pursuit = { ...this.#pursuit, captureFailed, mustVoid: this.#mustVoid, onDeadline: this.onDeadline };
    const { act } = holdAct(this.terms, pursuit, this.#now);
    if (act === 'wait') return;
    if (act === 'expire') return this.#happen(this.#capturedInTruth ? 'capturedElsewhere' : 'holdEnded');
    this.#byDeadline = true;
    this.#send(act, 100);
  }

  #command(command: Extract<Event, { event: 'capture' | 'void' }>): void {
    if (this.phase !== 'held' || this.#mustVoid) return;
    if (command.event === 'void') return this.#send('void', 100);
    const refused = this.#now >= this.terms.heldUntil || this.#unconfirmed || command.amount > 100;
    if (!refused) this.#send('capture', command.amount);
  }

  #send(what: 'capture' | 'void', amount: number): void {
    this.sent += 1;
    this.#underWay = amount;
    this.#happen(what);
  }

  #answer(answer: Answer, moved: boolean): void {
    const { phase } = this;
    if (phase !== 'capturing' && phase !== 'voiding' && phase !== 'releasing') return;
    const gone = this.voided || this.heldElsewhere !== 'held' || (phase === 'voiding' && this.captures.length > 0);
    const given = gone && answer !== 'failed' && answer !== 'absent' ? 'refused' : answer;
    const executed = given === 'done' || (given === 'unconfirmed' && moved);
    if (executed && phase === 'capturing') this.captures.push(this.#underWay);
    if (executed && phase === 'voiding') this.voided = true;
    if (given === 'unconfirmed' && phase === 'capturing') this.#unconfirmed = true;
    if (this.#byDeadline) {
      const captureFailed = this.#pursuit.captureFailed || phase === 'capturing';
      this.#pursuit = { tries: this.#pursuit.tries + 1, lastTryAt: this.#now, captureFailed };
    }
    this.#byDeadline = false;
    const inPart = phase === 'capturing' && given === 'done' && this.#underWay < 100;
    this.#happen(inPart ? 'captureInPart' : given === 'unconfirmed' ? 'failed' : given);
    if (given === 'refused' && this.phase === 'held') this.#inspect();
  }

  #elsewhere(what: 'captured' | 'voided'): void {
    if (this.captures.length > 0 || this.voided || this.heldElsewhere !== 'held' || this.ended) return;
    this.heldElsewhere = what;
    if (this.phase === 'held') this.#inspect();
  }

  #inspect(): void {
    if (this.#capturedInTruth) this.#happen('capturedElsewhere');
    else if (this.voided || this.heldElsewhere === 'voided') this.#happen('voidedElsewhere');
  }

  get #capturedInTruth(): boolean {
    return this.captures.length > 0 || this.heldElsewhere === 'captured';
  }

  #happen(on: Happening): void {
    const next = nextPhase(FLOW, this.phase, on);
    if (next === undefined) throw new Error(`${on} can't happen while ${this.phase}`);
    this.phase = next;
    this.phases.push(next);
  }
}
