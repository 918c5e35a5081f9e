import { setTimeout as sleep } from 'node:timers/promises';
import type { HoldfastClient } from '../../src/client/index.js';
import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import type { FinalOutcome, Outcome } from '../../src/contract/outcomes.js';
import type { SandboxControl } from '../../sandbox/control.js';
import { showMoney } from '../../src/domain/show-money.js';
import { orAborted } from './or-aborted.js';
import type { DemoFault } from './own-faults.js';
import type { FlowName } from './references.js';
import type { LedgerEntry, Stage } from './stage.js';
import type { ThrowawayWorld } from './throwaway/world.js';

/** Of a plain charge, in minor units. */
export const AMOUNT = 1095;
export const CURRENCY = 'USD';
export const PRICE = showMoney(AMOUNT, CURRENCY);

const LOOK_EVERY_MS = 50;
/** Longest wait for an outcome: a new worker gets a dead one's task after 10 s. */
export const WAIT = { waitFor: '50 seconds' } as const;

export interface Step {
  /** ms since the flow began. */
  at: number;
  text: string;
}

/** What a payment is made of, whatever the flow. */
type Basics = Pick<ChargeInput, 'reference' | 'amount' | 'currency' | 'paymentMethod'>;

/** One flow of the demo while it runs: what it did, and the tools it does it with. */
export class Scene {
  readonly reference: string;
  readonly steps: Step[] = [];
  /** The workflow to look at in Temporal UI. */
  workflowId: string;
  /** Where it runs, when that is not the stack itself. */
  world: ThrowawayWorld | undefined;
  /** References of what it did to its payment later. */
  readonly #later: string[] = [];
  readonly #stage: Stage;
  #begun = Date.now();

  constructor(stage: Stage, name: FlowName) {
    this.#stage = stage;
    this.reference = stage.referenceOf(name);
    this.workflowId = paymentWorkflowId(this.reference);
  }

  /** What a business service uses. */
  get holdfast(): HoldfastClient {
    return this.world?.holdfast ?? this.#stage.holdfast;
  }

  get #sandbox(): SandboxControl {
    return this.world?.sandbox ?? this.#stage.sandbox;
  }

  /** Has it run elsewhere from now on. */
  enter(world: ThrowawayWorld): void {
    this.world = world;
    this.begin();
  }

  /** Its time counts from now on. */
  begin(): void {
    this.#begun = Date.now();
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

  /** @param reference of what it is to strike; by default the payment itself */
  async plant(fault: DemoFault, reference = this.reference): Promise<string> {
    return await this.#stage.faults.plant(reference, fault);
  }

  async timesFired(faultId: string): Promise<number> {
    return await this.#stage.faults.timesFired(faultId);
  }

  /** @param amount minor units */
  async input(cardNumber: string, amount: number): Promise<Basics> {
    const token = (await this.world?.tokenize(cardNumber)) ?? (await this.#sandbox.tokenize(cardNumber)).token;
    return { reference: this.reference, amount, currency: CURRENCY, paymentMethod: { type: 'tokenized', token } };
  }

  /** Asks for a charge as a business service does. Answers what is known by then, be it only `pending`. */
  async charge(cardNumber: string): Promise<ChargeOutcome> {
    return await this.holdfast.charge(await this.input(cardNumber, AMOUNT), WAIT);
  }

  /**
   * Waits until the flow has ended, however long that takes.
   * @param reference by default of the scene's own payment
   */
  async end(outcome: Outcome, reference = this.reference): Promise<FinalOutcome> {
    if ('evidence' in outcome) return outcome;
    return (await this.resultOf(paymentWorkflowId(reference))) as FinalOutcome;
  }

  /** What a flow ends with, also after runs that have continued as new. */
  async resultOf(workflowId: string): Promise<unknown> {
    const { signal } = this.#stage;
    const { temporal } = this.world ?? this.#stage;
    return await temporal.withAbortSignal(signal, () => temporal.workflow.getHandle(workflowId).result());
  }

  /** The flow's own words. */
  async explain(): Promise<string> {
    return await this.holdfast.explain(this.reference);
  }

  /** A reference of its own for what is done to the payment later. */
  laterReference(): string {
    const reference = `${this.reference}-${this.#later.length + 1}`;
    this.follow(reference);
    return reference;
  }

  /** What the ledger has under this reference counts as well. */
  follow(reference: string): void {
    this.#later.push(reference);
  }

  async ledger(): Promise<LedgerEntry[]> {
    const ledgers = [this.reference, ...this.#later].map((reference) => this.#sandbox.ledger(reference));
    return (await Promise.all(ledgers)).flat();
  }

  /** How many webhook events of this flow were lost on their way. */
  async lostEvents(): Promise<number> {
    return (await this.#sandbox.deliveries({ reconciliationId: this.reference, status: 'lost' })).length;
  }

  /** Looks until it is so, or until the demo is given up. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await orAborted(isSo(), this.#stage.signal))) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: this.#stage.signal });
    }
  }
}
