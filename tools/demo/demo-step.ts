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
import type { LedgerEntry, DemoStack } from './demo-stack.js';
import type { EmbeddedWorld } from './embedded/world.js';

/** Amount of a plain charge in minor units. */
export const AMOUNT = 1095;
export const CURRENCY = 'USD';
export const PRICE = showMoney(AMOUNT, CURRENCY);

const LOOK_EVERY_MS = 50;
/** Longest wait for an outcome. A new worker gets a dead worker's task only after 10 s. */
export const WAIT = { waitFor: '50 seconds' } as const;

export interface Step {
  /** ms since the flow started. */
  at: number;
  text: string;
}

/** Input fields that every payment needs. */
type Basics = Pick<ChargeInput, 'reference' | 'amount' | 'currency' | 'paymentMethod'>;

/** State and helpers of one running demo flow. */
export class DemoStep {
  readonly reference: string;
  readonly steps: Step[] = [];
  /** Workflow that the link to Temporal UI shows. */
  workflowId: string;
  /** The embedded environment that the flow runs in, if any. */
  world: EmbeddedWorld | undefined;
  /** References of later operations on its payment. */
  readonly #later: string[] = [];
  readonly #stack: DemoStack;
  #begun = Date.now();

  constructor(stack: DemoStack, name: FlowName) {
    this.#stack = stack;
    this.reference = stack.referenceOf(name);
    this.workflowId = paymentWorkflowId(this.reference);
  }

  /** The client, as a business service uses it. */
  get holdfast(): HoldfastClient {
    return this.world?.holdfast ?? this.#stack.holdfast;
  }

  get #sandbox(): SandboxControl {
    return this.world?.sandbox ?? this.#stack.sandbox;
  }

  /** Makes the flow run in an embedded environment from now on. */
  enter(world: EmbeddedWorld): void {
    this.world = world;
    this.begin();
  }

  /** Restarts the time measurement of the steps. */
  begin(): void {
    this.#begun = Date.now();
  }

  async killWorker(): Promise<void> {
    await this.#stack.context.worker.kill();
  }

  /** Does nothing while the stack is stopping: a worker started then would never be stopped. */
  async startWorker(): Promise<void> {
    const { worker, signal } = this.#stack.context;
    if (!signal.aborted) await worker.start();
  }

  /** Records a step in plain words. */
  step(text: string): void {
    this.steps.push({ at: Date.now() - this.#begun, text });
  }

  /** @param reference of the operation that the fault applies to; default: the payment itself */
  async plant(fault: DemoFault, reference = this.reference): Promise<string> {
    return await this.#stack.faults.plant(reference, fault);
  }

  async timesFired(faultId: string): Promise<number> {
    return await this.#stack.faults.timesFired(faultId);
  }

  /** @param amount minor units */
  async input(cardNumber: string, amount: number): Promise<Basics> {
    const token = (await this.world?.tokenize(cardNumber)) ?? (await this.#sandbox.tokenize(cardNumber)).token;
    return { reference: this.reference, amount, currency: CURRENCY, paymentMethod: { type: 'tokenized', token } };
  }

  /** Requests a charge as a business service does. Returns the outcome known so far, possibly `pending`. */
  async charge(cardNumber: string): Promise<ChargeOutcome> {
    return await this.holdfast.charge(await this.input(cardNumber, AMOUNT), WAIT);
  }

  /**
   * Waits until the flow has ended, without a limit of its own.
   * @param reference default: this flow's own payment
   */
  async end(outcome: Outcome, reference = this.reference): Promise<FinalOutcome> {
    if ('evidence' in outcome) return outcome;
    return (await this.resultOf(paymentWorkflowId(reference))) as FinalOutcome;
  }

  /** The final result of a workflow, even if it has continued as new. */
  async resultOf(workflowId: string): Promise<unknown> {
    const { signal } = this.#stack;
    const { temporal } = this.world ?? this.#stack;
    return await temporal.withAbortSignal(signal, () => temporal.workflow.getHandle(workflowId).result());
  }

  /** The flow's own explanation. */
  async explain(): Promise<string> {
    return await this.holdfast.explain(this.reference);
  }

  /** Makes a reference for a later operation on the payment. */
  laterReference(): string {
    const reference = `${this.reference}-${this.#later.length + 1}`;
    this.follow(reference);
    return reference;
  }

  /** Includes the ledger entries of this reference too. */
  follow(reference: string): void {
    this.#later.push(reference);
  }

  async ledger(): Promise<LedgerEntry[]> {
    const ledgers = [this.reference, ...this.#later].map((reference) => this.#sandbox.ledger(reference));
    return (await Promise.all(ledgers)).flat();
  }

  /** Number of this flow's webhook events that were lost. */
  async lostEvents(): Promise<number> {
    return (await this.#sandbox.deliveries({ reconciliationId: this.reference, status: 'lost' })).length;
  }

  /** Polls until `isSo` is true, or until the demo is aborted. */
  async until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await orAborted(isSo(), this.#stack.signal))) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: this.#stack.signal });
    }
  }
}
