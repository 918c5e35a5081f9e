import { setTimeout as sleep } from 'node:timers/promises';
import type { AttackArguments } from '../arguments.js';
import type { Campaign, Findings } from '../campaign.js';
import { row } from '../campaign.js';
import type { LedgerEntry } from '../ledger-check.js';
import { randomOf } from '../plan.js';
import { briefTwin, withQuickLists, withRisk, type ProfileUnit } from '../profile-units.js';
import { currencyLines, currencyOf } from '../currencies.js';
import { EndedByPerson, newAccount, type Account } from './account.js';
import { differencesOfAccounts } from './books.js';
import { Desk, type DeskParts } from './desk.js';
import { flowLines } from './flow-lines.js';
import type { Operator } from './operator.js';
import { realOperator } from './real-operator.js';
import { GaveUp } from './patience.js';
import type { Scenario } from './scenario.js';
import { SCENARIOS } from './scenarios.js';

/** A caller whose flow takes longer turns to the next one; the flow goes on. */
const PATIENCE_MS = 3_000;
/** More flows under way at once would only make each other slow. */
const MOST_OPEN = 96;
const PLACE_EVERY_MS = 50;
const LOOK_EVERY_MS = 5_000;
const LOOKERS = 16;
/** So long flows go on by themselves once the faults are over: then a person ends what nobody can read. */
const OPERATOR_AFTER_MS = 45_000;

/** In an attack of fewer flows lists lag and holds last for less time: all of it would be spent on waiting for them. */
const QUICK_BELOW = 200;
/** Deadlines come after six sevenths of a hold; a capture that would come after its end is a void instead. */
const BRIEF_HOLDS = { quick: '14 seconds', other: '70 seconds' } as const;

/** The smallest amount whose parts of a fifth the sandbox does not refuse. */
const LEAST_AMOUNT = 30_000;

/** What the campaign itself gives to its desks. */
type Given = Omit<DeskParts, 'limit' | 'enlist'>;

/** Every flow and command there is, by turns over every profile of the service. */
export class MixedCampaign implements Campaign {
  readonly #parts: Given;
  readonly #units: readonly ProfileUnit[];
  readonly #seed: number;
  readonly #accounts: Account[] = [];
  readonly #open = new Map<Desk, Promise<void>>();
  readonly #operator: Operator;
  #limit = Number.POSITIVE_INFINITY;

  constructor({ units, seed, ...parts }: Given & { units: readonly ProfileUnit[]; seed: number }) {
    this.#parts = parts;
    this.#units = units;
    this.#seed = seed;
    this.#operator = realOperator(parts, [...units, ...units.map((unit) => briefTwin(unit, BRIEF_HOLDS.other))]);
  }

  /** What worker, webhook handler and sandbox have to know so that every scenario can be played on every profile. */
  static unitsFor(units: readonly ProfileUnit[], until: AttackArguments['until']): ProfileUnit[] {
    const isQuick = 'count' in until && until.count < QUICK_BELOW;
    const known = isQuick ? units.map(withQuickLists) : units;
    const hold = BRIEF_HOLDS[isQuick ? 'quick' : 'other'];
    return [...known.map(withRisk), ...known.map((unit) => briefTwin(unit, hold))];
  }

  get final(): number {
    return begun(this.#accounts).length - this.#open.size;
  }

  async visit(number: number, signal: AbortSignal): Promise<void> {
    while (this.#open.size >= MOST_OPEN && !signal.aborted) await sleep(PLACE_EVERY_MS);
    if (signal.aborted) return;
    const { unit, scenario } = pairOf(number, this.#units, this.#seed);
    const account = newAccount({
      number,
      scenario: scenario.name,
      profile: unit.name,
      reference: `attack-${unit.name}-${String(number).padStart(6, '0')}`,
      // Each another one, so that an answer that belongs to another flow would show.
      amount: LEAST_AMOUNT + number,
      currency: currencyOf(number, this.#units.length),
    });
    this.#accounts.push(account);
    const sentTo = scenario.brief ? briefTwin(unit, BRIEF_HOLDS.other) : unit;
    const parts: DeskParts = {
      ...this.#parts,
      limit: () => this.#limit,
      enlist: (part) => void this.#accounts.push(part),
    };
    const desk = new Desk(parts, account, sentTo);
    const played = this.#play(desk, scenario);
    this.#open.set(desk, played);
    await Promise.race([played, sleep(PATIENCE_MS)]);
  }

  async finish(limit: number, onWait: (what: string) => void): Promise<void> {
    this.#limit = limit;
    const operatesFrom = Date.now() + OPERATOR_AFTER_MS;
    while (this.#open.size > 0) {
      onWait(`${this.#open.size} of the callers`);
      // Polls that failed in the storm have grown to pauses of minutes, and not every event comes.
      if (Date.now() < limit) await this.#lookNow();
      if (Date.now() >= operatesFrom) await this.#operate();
      await Promise.race([Promise.all(this.#open.values()), sleep(LOOK_EVERY_MS)]);
    }
  }

  judge(ledger: readonly LedgerEntry[]): Findings {
    return judgeAccounts(this.#accounts, ledger, this.#units);
  }

  abandon(): void {
    this.#limit = 0;
  }

  async #play(desk: Desk, scenario: Scenario): Promise<void> {
    const { account } = desk;
    const random = randomOf(this.#seed + account.number);
    try {
      await scenario.play(desk, (values) => values[Math.floor(random() * values.length)] as (typeof values)[number]);
      if (!account.terminated) await desk.ended();
    } catch (error) {
      // Whoever gave up has something without an answer, or a flow without an end.
      if (!(error instanceof GaveUp || error instanceof EndedByPerson)) {
        account.wrongs.push(error instanceof Error ? error.message : String(error));
      }
    }
    account.endedAt = Date.now();
    this.#open.delete(desk);
  }

  /** One after the other, as a person does. */
  async #operate(): Promise<void> {
    for (const desk of [...this.#open.keys()].filter(({ withoutReads }) => withoutReads))
      for (const workflowId of await desk.flows()) await this.#operator.settle(workflowId);
  }

  async #lookNow(): Promise<void> {
    const queue = [...this.#open.keys()].values();
    const looker = async (): Promise<void> => {
      for (const desk of queue) await desk.lookNow();
    };
    await Promise.all(Array.from({ length: LOOKERS }, looker));
  }
}

/**
 * Every scenario comes to every unit: both go by the number, and once their turns meet again one of them moves on. Few
 * flows see few of the pairs: another seed, others.
 */
export function pairOf<Unit>(number: number, units: readonly Unit[], seed: number): { unit: Unit; scenario: Scenario } {
  const { length } = SCENARIOS;
  let [shared, rest] = [units.length, length];
  while (rest > 0) [shared, rest] = [rest, shared % rest];
  const meetAgain = (units.length * length) / shared;
  const turn = number + Math.floor(number / meetAgain) + seed;
  return { unit: units[number % units.length] as Unit, scenario: SCENARIOS[turn % length] as Scenario };
}

/** Those that a flow was asked for with; the others are of further payments in its course. */
function begun(accounts: readonly Account[]): Account[] {
  return accounts.filter(({ partOf }) => partOf === undefined);
}

/** What the flows of an attack amount to. */
export function judgeAccounts(
  accounts: readonly Account[],
  ledger: readonly LedgerEntry[],
  units: readonly Pick<ProfileUnit, 'name'>[],
): Findings {
  const flows = begun(accounts);
  const slowest = flows
    .map(({ reference, begunAt, endedAt }) => ({ reference, ms: (endedAt ?? begunAt) - begunAt }))
    .reduce<Findings['slowest']>((most, one) => (most === undefined || one.ms > most.ms ? one : most), undefined);
  return {
    what: 'flows',
    asked: flows.length,
    askedLines: [
      'spread over the profiles of the service',
      ...units.map(({ name }) => row(`  ${name}`, flows.filter(({ profile }) => profile === name).length)),
      ...currencyLines(flows),
    ],
    ...flowLines(accounts, ledger),
    differences: differencesOfAccounts(accounts, ledger),
    references: accounts.map(({ reference }) => reference),
    ...(slowest !== undefined && { slowest }),
  };
}
