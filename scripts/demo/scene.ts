import { setTimeout as sleep } from 'node:timers/promises';
import type { ChargeInput, ChargeOutcome, FinalChargeOutcome } from '../../src/contract/charge.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import { showMoney } from '../../src/domain/show-money.js';
import { orAborted } from './or-aborted.js';
import type { DemoFault } from './own-faults.js';
import type { FlowName } from './references.js';
import type { LedgerEntry, Stage } from './stage.js';

/** Minor units. */
export const AMOUNT = 1095;
export const CURRENCY = 'USD';
export const PRICE = showMoney(AMOUNT, CURRENCY);

const LOOK_EVERY_MS = 50;
/** Longest wait for an outcome: a new worker gets a dead one's task after 10 s. */
const WAIT_FOR = '50 seconds';

export interface Step {
  /** ms since the flow began. */
  at: number;
  text: string;
}

/** One flow of the demo while it runs: what it did, and the tools it does it with. */
export class Scene {
  readonly reference: string;
  readonly steps: Step[] = [];
  readonly #stage: Stage;
  readonly #begun = Date.now();

  constructor(stage: Stage, name: FlowName) {
    this.#stage = stage;
    this.reference = stage.referenceOf(name);
  }

  async killWorker(): Promise<void> {
    await this.#stage.context.worker.kill();
  }

  /** Does nothing while the stack is being stopped: a worker started then would be left over. */
  async startWorker(): Promise<void> {
    const { worker, signal } = this.#stage.context;
    if (!signal.aborted) await worker.start();
  }

  /** Notes what has just happened, in plain words. */
  step(text: string): void {
    this.steps.push({ at: Date.now() - this.#begun, text });
  }

  async plant(fault: DemoFault): Promise<string> {
    return await this.#stage.faults.plant(this.reference, fault);
  }

  async timesFired(faultId: string): Promise<number> {
    return await this.#stage.faults.timesFired(faultId);
  }

  /** Asks for a charge as a business service does. Answers what is known by then, be it only `pending`. */
  async charge(cardNumber: string): Promise<ChargeOutcome> {
    const { holdfast, sandbox } = this.#stage;
    const { token } = await sandbox.tokenize(cardNumber);
    const input: ChargeInput = {
      reference: this.reference,
      amount: AMOUNT,
      currency: CURRENCY,
      paymentMethod: { type: 'tokenized', token },
    };
    return await holdfast.charge(input, { waitFor: WAIT_FOR });
  }

  /** Waits until the flow has ended, however long that takes. */
  async end(outcome: ChargeOutcome): Promise<FinalChargeOutcome> {
    if ('evidence' in outcome) return outcome;
    const { temporal, signal } = this.#stage;
    const handle = temporal.workflow.getHandle(paymentWorkflowId(this.reference));
    return (await temporal.withAbortSignal(signal, () => handle.result())) as FinalChargeOutcome;
  }

  /** The flow's own words. */
  async explain(): Promise<string> {
    return await this.#stage.holdfast.explain(this.reference);
  }

  async ledger(): Promise<LedgerEntry[]> {
    return await this.#stage.sandbox.ledger(this.reference);
  }

  /** How many webhook events of this flow were lost on their way. */
  async lostEvents(): Promise<number> {
    return (await this.#stage.sandbox.deliveries({ reconciliationId: this.reference, status: 'lost' })).length;
  }

  /** Looks until it is so, or until the demo is given up. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await orAborted(isSo(), this.#stage.signal))) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: this.#stage.signal });
    }
  }
}

/** Movements of money: what was tried and declined is in the ledger too, and is none. */
export function movementsOf(ledger: readonly LedgerEntry[]): LedgerEntry[] {
  return ledger.filter(({ status }) => status === 'Succeed');
}
