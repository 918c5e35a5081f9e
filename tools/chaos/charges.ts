import type { HoldfastClient } from '../../src/client/index.js';
import { HoldfastError } from '../../src/client/index.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import type { SandboxControl } from '../../sandbox/control.js';
import { askUntilFinal, isOpen } from './asking.js';
import { currencyLines, currencyOf } from './currencies.js';
import { row, type Campaign, type Findings } from './campaign.js';
import type { FlowRun } from './flow-health.js';
import { differencesFromLedger, type AskedCharge, type LedgerEntry } from './ledger-check.js';
import { randomOf } from './plan.js';
import { namesNoFlow, PLAIN_UNIT, type ProfileUnit } from './profile-units.js';

/** A charge whose answer takes longer is asked for again when the storm is over. */
const PATIENCE_MS = 3_000;
const CALLERS = 64;

/** Cards of the sandbox for every ending: at once, pending and then either way, declined. */
const CARDS = ['4111111111111111', '4242424242424242', '5105105105105100', '5454545454545454'] as const;
const ANSWERS = ['succeeded', 'declined', 'notExecuted', 'pending', 'unknown'] as const;

interface StormedCharge extends AskedCharge {
  /** Epoch ms. */
  readonly begunAt: number;
}

/** Charges alone, with every card, spread over the units by turns. */
export class ChargeCampaign implements Campaign {
  readonly #holdfast: HoldfastClient;
  readonly #sandbox: SandboxControl;
  readonly #units: readonly ProfileUnit[];
  readonly #random: () => number;
  #asked: StormedCharge[] = [];
  #abandoned = false;

  constructor(parts: {
    holdfast: HoldfastClient;
    sandbox: SandboxControl;
    units: readonly ProfileUnit[];
    seed: number;
  }) {
    this.#holdfast = parts.holdfast;
    this.#sandbox = parts.sandbox;
    this.#units = parts.units;
    this.#random = randomOf(parts.seed);
  }

  get final(): number {
    return this.#asked.filter((charge) => !isOpen(charge)).length;
  }

  async visit(number: number): Promise<void> {
    const begunAt = Date.now();
    const input = await this.#newCharge(number);
    this.#asked.push({ begunAt, ...(await askUntilFinal(this.#holdfast, input, PATIENCE_MS)) });
  }

  async finish(limit: number, onWait: (what: string) => void): Promise<void> {
    const asked = [...this.#asked];
    const open = [...asked.entries()].filter(([, charge]) => isOpen(charge));
    let left = open.length;
    const queue = open.values();
    const silent = new Set<string | undefined>(this.#units.filter(namesNoFlow).map(({ name }) => name));
    const caller = async (): Promise<void> => {
      for (const [index, charge] of queue) {
        onWait(`${left} charges`);
        // Polls that failed in the storm have grown to pauses of minutes, and no event shortens those.
        if (silent.has(charge.input.businessUnit)) await lookNow(this.#holdfast, charge.input.reference);
        const answered = await askUntilFinal(this.#holdfast, charge.input, this.#abandoned ? 0 : limit - Date.now());
        asked[index] = { begunAt: charge.begunAt, ...answered };
        left -= 1;
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    this.#asked = asked;
  }

  judge(ledger: readonly LedgerEntry[], runs: readonly FlowRun[]): Findings {
    return { ...judgeCharges(this.#asked, ledger, this.#units), ...slowestOf(this.#asked, runs) };
  }

  abandon(): void {
    this.#abandoned = true;
  }

  async #newCharge(number: number): Promise<ChargeInput> {
    const card = CARDS[Math.floor(this.#random() * CARDS.length)] ?? CARDS[0];
    const { name, publicKey } = this.#units[number % this.#units.length] ?? PLAIN_UNIT;
    const { token } = await this.#sandbox.tokenize({ cardNumber: card, publicKey });
    return {
      reference: `attack-${name}-${String(number).padStart(6, '0')}`,
      // Each another one, so that an answer that belongs to another charge would show.
      amount: 1_000 + number,
      currency: currencyOf(number, this.#units.length),
      paymentMethod: { type: 'tokenized', token },
      businessUnit: name,
    };
  }
}

/** What the charges of an attack amount to. */
export function judgeCharges(
  asked: readonly AskedCharge[],
  ledger: readonly LedgerEntry[],
  units: readonly Pick<ProfileUnit, 'name'>[],
): Findings {
  const told = (wanted: string): number =>
    asked.filter(({ answer, error }) => error === undefined && answer?.status === wanted).length;
  const ofUnit = (name: string): number => asked.filter(({ input }) => input.businessUnit === name).length;
  return {
    what: 'charges',
    asked: asked.length,
    askedLines: [
      'spread over the profiles of the service',
      ...units.map(({ name }) => row(`  ${name}`, ofUnit(name))),
      ...currencyLines(asked.map(({ input }) => input)),
    ],
    answerLines: [
      'answers',
      ...ANSWERS.map((status) => row(`  ${status}`, told(status))),
      row('  none', asked.filter(({ answer, error }) => error === undefined && answer === undefined).length),
      row('  errors', asked.filter(({ error }) => error !== undefined).length),
    ],
    movementsNote: `for ${told('succeeded')} charges that succeeded`,
    differences: differencesFromLedger(asked, ledger),
    references: asked.map(({ input }) => input.reference),
  };
}

/** A flow that has ended, or was never started, says so when it is asked. */
async function lookNow(holdfast: HoldfastClient, reference: string): Promise<void> {
  try {
    await holdfast.retryNow(reference);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
  }
}

/** From the first question until the flow knew, by the clock of this machine, which the engine's is too. */
function slowestOf(asked: readonly StormedCharge[], runs: readonly FlowRun[]): Pick<Findings, 'slowest'> {
  const closedAt = new Map(runs.map(({ workflowId, closeTime }) => [workflowId, closeTime?.getTime()]));
  let slowest: Findings['slowest'];
  for (const { input, begunAt } of asked) {
    const closed = closedAt.get(paymentWorkflowId(input.reference));
    const ms = closed === undefined ? 0 : closed - begunAt;
    if (slowest === undefined || ms > slowest.ms) slowest = { ms, reference: input.reference };
  }
  return slowest === undefined ? {} : { slowest };
}
