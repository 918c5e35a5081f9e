import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerEntry } from '../audit/ledger.js';
import { newPaymentRecord, type PaymentRecord } from '../audit/payment-record.js';
import { briefTwin, namesNoFlow, withQuickLists, withRisk, type ProfileUnit } from '../stack/profile-units.js';
import type { ChaosArguments } from './arguments.js';
import type { DriverContext } from './driver/driver-context.js';
import { FlowDriver } from './driver/flow-driver.js';
import { realOperator, type Operator } from './driver/operator.js';
import { currencyOf, findingsOf, isFirst, type Findings } from './findings.js';
import { randomOf } from './plan.js';
import { type Pick, runToEnd, type Scenario } from './scenarios/scenario.js';

/** After this time a caller starts its next flow. The slow flow continues. */
const TURN_LIMIT_MS = 3_000;
/** Limit of concurrent flows: more would only slow each other down. */
const MOST_OPEN = 96;
const PLACE_EVERY_MS = 50;
const LOOK_EVERY_MS = 5_000;
const LOOKERS = 16;
/** ms after the faults in which flows finish without help. Then an operator settles those that can't be read, or are in doubt. */
const OPERATOR_AFTER_MS = 45_000;

/** With fewer flows than this, list delays and holds are shortened. Otherwise the run would mostly wait for them. */
const QUICK_BELOW = 200;
/** A flow's deadline is six sevenths of its hold. It voids if a capture would come only after the hold's end. */
const BRIEF_HOLDS = { quick: '14 seconds', other: '70 seconds' } as const;

/** Smallest amount of a flow, so that the sandbox doesn't decline a fifth of it. */
export const LEAST_AMOUNT = 30_000;

export interface CampaignOptions extends Omit<DriverContext, 'limit' | 'addRecord'> {
  /** Scenarios to run, by turns. */
  scenarios: readonly Scenario[];
  /** Business units to run them on, by turns. */
  units: readonly ProfileUnit[];
  seed: number;
}

/** Runs scenarios by turns over the profiles of the service and records every payment. */
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

  /** Number of flows whose answers are all final. */
  get final(): number {
    return this.#records.filter(isFirst).length - this.#open.size;
  }

  /**
   * One turn of a caller: starts the flow of this number. Resolves when all answers are final, or at the time limit.
   * @param signal aborts before the flow is started
   */
  async startFlow(number: number, signal: AbortSignal): Promise<void> {
    while (this.#open.size >= MOST_OPEN && !signal.aborted) await sleep(PLACE_EVERY_MS);
    if (signal.aborted) return;
    const { scenarios, units, seed, ...context } = this.#options;
    const { unit, scenario } = pairOf(number, units, scenarios, seed);
    const ofFlow: DriverContext = {
      ...context,
      limit: () => this.#limit,
      addRecord: (part) => void this.#records.push(part),
    };
    const driver = driverOf(ofFlow, scenario, unit, {
      number,
      reference: `chaos-${unit.name}-${String(number).padStart(6, '0')}`,
      amount: LEAST_AMOUNT + number,
      currency: currencyOf(number, units.length),
    });
    const random = randomOf(seed + number);
    const pick: Pick = (values) => values[Math.floor(random() * values.length)] as (typeof values)[number];
    const running = runToEnd(driver, () => scenario.run(driver, pick)).then(() => void this.#open.delete(driver));
    this.#open.set(driver, running);
    await Promise.race([running, sleep(TURN_LIMIT_MS)]);
  }

  /**
   * Runs after the faults have ended. Retries until every flow is final.
   * @param limit epoch ms by which callers give up
   */
  async finish(limit: number, onWait: (what: string) => void): Promise<void> {
    this.#limit = limit;
    const operatesFrom = Date.now() + OPERATOR_AFTER_MS;
    while (this.#open.size > 0) {
      onWait(`${this.#open.size} of the callers`);
      // Polls that failed under faults may pause for minutes, and some events were lost.
      if (Date.now() < limit) await this.#lookNow();
      if (Date.now() >= operatesFrom) await this.#operate();
      await Promise.race([Promise.all(this.#open.values()), sleep(LOOK_EVERY_MS)]);
    }
  }

  /** Payments whose hold a person has released in the service's back office. */
  get releasedByHand(): ReadonlySet<string | undefined> {
    return new Set(this.#records.filter((record) => record.releasedByHand).map(({ paymentId }) => paymentId));
  }

  /** Compares the answers with the ledger. */
  findings(ledger: readonly LedgerEntry[]): Findings {
    return findingsOf(this.#records, ledger, this.#options);
  }

  /** Makes all callers give up, because the stack is about to stop. */
  abandon(): void {
    this.#limit = 0;
  }

  /** Settles flows one after the other, as an operator does. */
  async #operate(): Promise<void> {
    for (const driver of [...this.#open.keys()]) {
      const { withoutReads } = driver;
      for (const workflowId of await driver.flows())
        await (withoutReads ? this.#operator.settle(workflowId) : this.#operator.endDoubt(workflowId));
      if (!withoutReads) continue;
      await this.#operator.sendLostDecisionsAgain(driver.record.reference);
    }
  }

  /** A charge ends by its own events and polls, so a lost one shows; only a service that names no flow needs help. */
  #needsLook({ record }: FlowDriver): boolean {
    const { scenarios, units } = this.#options;
    const unit = units.find(({ name }) => name === record.profile);
    return !scenarios.every(({ isChargeAlone }) => isChargeAlone === true) || (unit !== undefined && namesNoFlow(unit));
  }

  async #lookNow(): Promise<void> {
    const queue = [...this.#open.keys()].filter((driver) => this.#needsLook(driver)).values();
    const looker = async (): Promise<void> => {
      for (const driver of queue) await driver.lookNow();
    };
    await Promise.all(Array.from({ length: LOOKERS }, looker));
  }
}

/**
 * The driver of a new flow, whose record it adds.
 * @param known its amount is different for every flow, so an answer that belongs to another flow is detected
 */
export function driverOf(
  context: DriverContext,
  { name, brief }: { name: string; brief?: true },
  unit: ProfileUnit,
  known: { number: number; reference: string; amount: number; currency: string },
): FlowDriver {
  const record = newPaymentRecord({ ...known, scenario: name, profile: unit.name });
  context.addRecord(record);
  return new FlowDriver(context, record, brief ? briefTwin(unit, BRIEF_HOLDS.other) : unit);
}

/** Business units that the worker, the webhook handler and the sandbox need to run every scenario on every profile. */
export function unitsForScenarios(units: readonly ProfileUnit[], until: ChaosArguments['until']): ProfileUnit[] {
  const isQuick = 'count' in until && until.count < QUICK_BELOW;
  const known = isQuick ? units.map(withQuickLists) : units;
  const hold = BRIEF_HOLDS[isQuick ? 'quick' : 'other'];
  return [...known.map(withRisk), ...known.map((unit) => briefTwin(unit, hold))];
}

/**
 * Pairs units and scenarios by the flow number, shifting by one whenever the pairs would repeat, so that every scenario
 * runs on every unit. A short run covers only some pairs; another seed covers others.
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
