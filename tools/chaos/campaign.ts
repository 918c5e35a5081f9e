import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerEntry } from '../audit/ledger.js';
import { newPaymentRecord, type PaymentRecord } from '../audit/payment-record.js';
import { briefTwin, withQuickLists, withRisk, type ProfileUnit } from '../stack/profile-units.js';
import type { ChaosArguments } from './arguments.js';
import type { DriverContext } from './driver/driver-context.js';
import { FlowDriver } from './driver/flow-driver.js';
import { realOperator, type Operator } from './driver/operator.js';
import { NoAnswerInTime } from './driver/retry-budget.js';
import { currencyOf, findingsOf, isFirst, type Findings } from './findings.js';
import { randomOf } from './plan.js';
import { EndedByOperator, type Scenario } from './scenarios/scenario.js';

/** A caller whose flow takes longer turns to the next one; the flow goes on. */
const TURN_LIMIT_MS = 3_000;
/** More flows under way at once would only make each other slow. */
const MOST_OPEN = 96;
const PLACE_EVERY_MS = 50;
const LOOK_EVERY_MS = 5_000;
const LOOKERS = 16;
/** So long flows go on by themselves once the faults are over: then a person ends what nobody can read. */
const OPERATOR_AFTER_MS = 45_000;

/** In a run of fewer flows lists lag and holds last for less time: all of it would be spent on waiting for them. */
const QUICK_BELOW = 200;
/** Deadlines come after six sevenths of a hold; a capture that would come after its end is a void instead. */
const BRIEF_HOLDS = { quick: '14 seconds', other: '70 seconds' } as const;

/** The smallest amount whose parts of a fifth the sandbox does not refuse. */
const LEAST_AMOUNT = 30_000;

export interface CampaignOptions extends Omit<DriverContext, 'limit' | 'addRecord'> {
  /** What is asked for, by turns. */
  scenarios: readonly Scenario[];
  /** Where it is asked for, by turns. */
  units: readonly ProfileUnit[];
  seed: number;
}

/** Plays scenarios, by turns over the profiles of the service, and keeps a record of every payment. */
export class Campaign {
  readonly #options: CampaignOptions;
  readonly #records: PaymentRecord[] = [];
  readonly #open = new Map<FlowDriver, Promise<void>>();
  readonly #operator: Operator;
  #limit = Number.POSITIVE_INFINITY;

  constructor(options: CampaignOptions) {
    this.#options = options;
    const { units } = options;
    this.#operator = realOperator(options, [...units, ...units.map((unit) => briefTwin(unit, BRIEF_HOLDS.other))]);
  }

  /** Flows of which all that was asked is known. */
  get final(): number {
    return this.#records.filter(isFirst).length - this.#open.size;
  }

  /**
   * One caller's turn: asks for the flow of this number. Resolves when all of its answers are known, or the turn is over.
   * @param signal asks for nothing more
   */
  async startFlow(number: number, signal: AbortSignal): Promise<void> {
    while (this.#open.size >= MOST_OPEN && !signal.aborted) await sleep(PLACE_EVERY_MS);
    if (signal.aborted) return;
    const { scenarios, units, seed, ...context } = this.#options;
    const { unit, scenario } = pairOf(number, units, scenarios, seed);
    const record = newPaymentRecord({
      number,
      scenario: scenario.name,
      profile: unit.name,
      reference: `chaos-${unit.name}-${String(number).padStart(6, '0')}`,
      // Each another one, so that an answer that belongs to another flow would show.
      amount: LEAST_AMOUNT + number,
      currency: currencyOf(number, units.length),
    });
    this.#records.push(record);
    const ofFlow: DriverContext = {
      ...context,
      limit: () => this.#limit,
      addRecord: (part) => void this.#records.push(part),
    };
    const driver = new FlowDriver(ofFlow, record, scenario.brief ? briefTwin(unit, BRIEF_HOLDS.other) : unit);
    const played = this.#play(driver, scenario);
    this.#open.set(driver, played);
    await Promise.race([played, sleep(TURN_LIMIT_MS)]);
  }

  /**
   * The faults are over: asks on until everything is final.
   * @param limit epoch ms by which it gives up
   */
  async finish(limit: number, onWait: (what: string) => void): Promise<void> {
    this.#limit = limit;
    const operatesFrom = Date.now() + OPERATOR_AFTER_MS;
    while (this.#open.size > 0) {
      onWait(`${this.#open.size} of the callers`);
      // Pauses between polls that failed under faults have grown to minutes, and not every event comes.
      if (Date.now() < limit) await this.#lookNow();
      if (Date.now() >= operatesFrom) await this.#operate();
      await Promise.race([Promise.all(this.#open.values()), sleep(LOOK_EVERY_MS)]);
    }
  }

  /** Compares the answers with the ledger of the service. */
  findings(ledger: readonly LedgerEntry[]): Findings {
    return findingsOf(this.#records, ledger, this.#options);
  }

  /** Asks for nothing more: the stack is being stopped. */
  abandon(): void {
    this.#limit = 0;
  }

  async #play(driver: FlowDriver, scenario: Scenario): Promise<void> {
    const { record } = driver;
    const random = randomOf(this.#options.seed + record.number);
    try {
      await scenario.play(driver, (values) => values[Math.floor(random() * values.length)] as (typeof values)[number]);
      if (!record.terminated) await driver.ended();
    } catch (error) {
      // Whoever gave up has something without an answer, or a flow without an end.
      if (!(error instanceof NoAnswerInTime || error instanceof EndedByOperator)) {
        record.violations.push(error instanceof Error ? error.message : String(error));
      }
    }
    record.endedAt = Date.now();
    this.#open.delete(driver);
  }

  /** One after the other, as a person does. */
  async #operate(): Promise<void> {
    for (const driver of [...this.#open.keys()].filter(({ withoutReads }) => withoutReads))
      for (const workflowId of await driver.flows()) await this.#operator.settle(workflowId);
  }

  async #lookNow(): Promise<void> {
    const queue = [...this.#open.keys()].values();
    const looker = async (): Promise<void> => {
      for (const driver of queue) await driver.lookNow();
    };
    await Promise.all(Array.from({ length: LOOKERS }, looker));
  }
}

/** What worker, webhook handler and sandbox have to know so that every scenario can be played on every profile. */
export function unitsForScenarios(units: readonly ProfileUnit[], until: ChaosArguments['until']): ProfileUnit[] {
  const isQuick = 'count' in until && until.count < QUICK_BELOW;
  const known = isQuick ? units.map(withQuickLists) : units;
  const hold = BRIEF_HOLDS[isQuick ? 'quick' : 'other'];
  return [...known.map(withRisk), ...known.map((unit) => briefTwin(unit, hold))];
}

/**
 * Every scenario comes to every unit: both go by the number, and once their turns meet again one of them moves on. Few
 * flows see few of the pairs: another seed, others.
 */
export function pairOf<Unit>(
  number: number,
  units: readonly Unit[],
  scenarios: readonly Scenario[],
  seed: number,
): { unit: Unit; scenario: Scenario } {
  const { length } = scenarios;
  let [shared, rest] = [units.length, length];
  while (rest > 0) [shared, rest] = [rest, shared % rest];
  const meetAgain = (units.length * length) / shared;
  const turn = number + Math.floor(number / meetAgain) + seed;
  return { unit: units[number % units.length] as Unit, scenario: scenarios[turn % length] as Scenario };
}
