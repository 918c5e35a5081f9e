import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxControl } from '../../sandbox/control.js';
import type { HoldfastClient } from '../../src/client/index.js';
import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import type { FinalOutcome, Outcome } from '../../src/contract/messages.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import type { SubscriptionEnded } from '../../src/contract/subscription-commands.js';
import { showMoney } from '../../src/domain/money.js';
import type { LedgerEntry } from '../audit/ledger.js';
import type { DemoStack } from './demo-stack.js';
import type { EmbeddedWorld } from './embedded/world.js';
import { type DemoFault, type FlowName, isMadeOf } from './merchant.js';
import type { Movement } from './movements.js';
import { orAborted } from './or-aborted.js';

/** Amount of a plain charge in minor units. */
export const AMOUNT = 1095;
export const CURRENCY = 'USD';
export const PRICE = showMoney(AMOUNT, CURRENCY);

const LOOK_EVERY_MS = 50;
/** More than others make beside the demo while it runs. */
const LEDGER_PAYMENTS = 1_000;
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
  /** How many later operations on its payment have a reference. */
  #later = 0;
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
    this.#later += 1;
    return `${this.reference}-${this.#later}`;
  }

  /** Every transaction under the flow's reference or one made of it, also one that nobody has asked for. Oldest first. */
  async ledger(): Promise<LedgerEntry[]> {
    const entries = await this.#sandbox.ledgerOf({ latest: LEDGER_PAYMENTS });
    const own = entries.filter(({ reconciliation_id: id }) => id !== null && isMadeOf(id, this.reference));
    return own.toSorted((one, other) => Number(one.created) - Number(other.created));
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

/** Final outcomes of a demo flow. */
export type Ending = FinalOutcome | SubscriptionEnded;

/** The required outcome of a flow. Any other outcome is a problem. */
export interface Expected {
  status: Ending['status'];
  /** More than one if a reply and its event race each other. Empty for a flow of several payments. */
  knownBy: readonly KnownBy[];
  /** Expected movements of money in the sandbox's ledger, oldest first. */
  moved: readonly Movement[];
}

export interface DemoFlow {
  name: FlowName;
  title: string;
  expected: Expected;
  /** The other valid outcome, where two commands race each other. */
  orElse?: Expected;
  /** Text for success, if it says more than the status does. */
  success?: string;
  /** Set if the flow's time is skipped. The flow then runs in an embedded environment of its own. */
  where?: 'embedded';
  /** The flow starts only after this. Two flows with skipped time would move the clock of each other's sandbox. */
  after?: Promise<unknown>;
  /** @throws ProblemError if a result on the way is wrong */
  run(step: DemoStep): Promise<Ending>;
}

/** Its message is one sentence for the user. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
}

export const REPLY_OR_EVENT: readonly KnownBy[] = ['reply', 'webhook'];

/** undefined for a flow of several payments, each of which has its own evidence. */
export function knownBy(outcome: Ending): KnownBy | undefined {
  return 'evidence' in outcome ? outcome.evidence.knownBy : undefined;
}

/** The sandbox's test cards. */
export const SUCCEEDS = '4111111111111111';
export const PENDS_THEN_SUCCEEDS = '5105105105105100';
