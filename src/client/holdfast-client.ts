import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { z } from 'zod';
import type { AuthorizeInput, AuthorizeOutcome } from '../contract/authorize.js';
import type {
  ListCardsInput,
  ListedCards,
  RemoveCardInput,
  RemovedCard,
  StoreCardInput,
  StoreCardOutcome,
} from '../contract/cards.js';
import type {
  ChargeInput,
  ChargeOutcome,
  CreditInput,
  CreditOutcome,
  ResolvePendingInput,
} from '../contract/charge.js';
import {
  type Approval,
  type Approved,
  type CaptureCommand,
  captureCommandSchema,
  type DecideReview,
  decideReviewSchema,
  type ReauthorizeCommand,
  reauthorizeCommandSchema,
  type RefundCommand,
  refundCommandSchema,
  type VoidCommand,
  voidCommandSchema,
  type FlowStatus,
  type RetryNow,
  retryNowSchema,
  type SettleManually,
  settleManuallySchema,
  type Outcome,
} from '../contract/messages.js';
import { FLOWS, type RepeatableFlow } from '../contract/flows.js';
import { QUERY_NAMES, UPDATE_NAMES } from '../contract/names.js';
import type { AnalyseRiskInput, RiskOutcome } from '../contract/risk.js';
import type { SharedSchema } from '../contract/shared-schema.js';
import type { SubscriptionInput } from '../contract/subscription.js';
import type { SubscriptionAnswer, SubscriptionOutcome } from '../contract/subscription-commands.js';
import { refundOfBill } from './billing-port.js';
import { type BrakeCommands, brakeCommands } from './brakes.js';
import { type AskableType, askFlow, type FlowOutcomes } from './ask-flow.js';
import { type HoldfastError, naming } from './errors.js';
import { runCardFlow, FlowCalls, type FlowRef, followTransaction } from './flow-calls.js';
import { checkInput, checkSubscriptionInput, makeRequest } from './start-options.js';
import { decideOutgoing } from './decide-outgoing.js';
import { decide, isReviewedBy, isSettledBy } from './done-before.js';
import { Deadlines } from './deadlines.js';
import { type CommandAnswer, type PaymentRef, sendCommand, type Sent } from './send-command.js';
import { type SubscriptionCommands, subscriptionCommands } from './subscription-commands.js';
import { type WaitOptions, waitOf } from './wait-options.js';

/**
 * The client for business services. Every method throws only {@link HoldfastError}, whose types `HoldfastErrorType` explains, and
 * may be repeated at any time: the same reference is the same payment (money rule 2), the same `commandId` the same command. A
 * command without an id of yours is a further one each time: a refund of a part is then made again.
 */
export class HoldfastClient {
  readonly #client: Client;
  readonly #deadlines: Deadlines;
  readonly #calls: FlowCalls;
  /** The stop switch of business units. @throws HoldfastError `InvalidInput`, `EngineUnavailable`; `UnexpectedResponse` without the key */
  readonly brakes: BrakeCommands;

  /** `client` must carry Holdfast's data converter: see `connectHoldfast`. */
  constructor(client: Client) {
    this.#client = client;
    this.#deadlines = new Deadlines(client);
    this.#calls = new FlowCalls(client, this.#deadlines);
    this.subscription = subscriptionCommands(this.#calls, (call) => refundOfBill(client, this.#deadlines, call));
    this.brakes = brakeCommands(client, this.#calls);
  }

  /**
   * Charges the card once, or joins the flow of this reference.
   * @throws HoldfastError `InvalidInput` before anything is started; `ReferenceConflict` when the reference belongs to another
   * input; `InvalidInput`, `NotFound` or `StateConflict` where the service refuses it; `EngineUnavailable`, `RateLimited` or
   * `UnexpectedResponse` without an answer (the flow may have started: ask again); `FlowStopped`
   */
  async charge(input: ChargeInput, options: WaitOptions = {}): Promise<ChargeOutcome> {
    return await this.#ask(FLOWS.charge, input, options);
  }

  /**
   * Authorizes the amount. Answers `authorized` as soon as it is held; `capture`, `void` or the deadline follows.
   * Throws like {@link charge}.
   */
  async authorize(input: AuthorizeInput, options: WaitOptions = {}): Promise<AuthorizeOutcome> {
    return await this.#ask(FLOWS.authorizeAndCapture, input, options);
  }

  /** Sends money to a card without an earlier payment. Throws like {@link charge}. */
  async credit(input: CreditInput, options: WaitOptions = {}): Promise<CreditOutcome> {
    return await this.#ask(FLOWS.credit, input, options);
  }

  /**
   * Stores a card on file after a consent transaction of the buyer. Answers `stored` with the data that later
   * transactions need, or `consentedNotStored` with the state of the consent's money. Throws like {@link charge}.
   */
  async storeCard(input: StoreCardInput, options: WaitOptions = {}): Promise<StoreCardOutcome> {
    return await this.#ask(FLOWS.storeCard, input, options);
  }

  /**
   * Lists a customer's cards on file.
   * @throws HoldfastError `NotFound` for an unknown customer, `InvalidInput` if the business unit stores no cards
   */
  async listCards(input: Omit<ListCardsInput, 'commandId'>): Promise<ListedCards> {
    const parsed = checkInput(FLOWS.listCards.schema, { ...input, commandId: randomUUID() });
    return await runCardFlow<ListedCards>(this.#calls, makeRequest(FLOWS.listCards, parsed));
  }

  /**
   * Removes a card on file. A repeated call with the same `commandId` gets the first one's answer; if that was a failure
   * it asks the service again.
   * @throws HoldfastError `NotFound` if the customer has no such card; `ReferenceConflict` when the `commandId` was
   * used for another card; `EngineUnavailable` while the service does not answer: repeat with the same `commandId`
   */
  async removeCard(input: Omit<RemoveCardInput, 'commandId'> & { commandId?: string }): Promise<RemovedCard> {
    const commandId = input.commandId ?? randomUUID();
    const parsed = checkInput(FLOWS.removeCard.schema, { ...input, commandId });
    const removed = runCardFlow<RemovedCard>(this.#calls, makeRequest(FLOWS.removeCard, parsed));
    return await removed.catch((error: HoldfastError) => {
      throw input.commandId === undefined ? naming(error, commandId) : error;
    });
  }

  /**
   * Bills a card on file every period. Answers as soon as card, customer and calendar have been checked. Joins the
   * subscription that was started with the same reference and terms, at any later time.
   * @throws HoldfastError `InvalidInput` with all faults, before anything is stored or billed; else like {@link charge}
   */
  async subscribe(input: SubscriptionInput, options: WaitOptions = {}): Promise<SubscriptionOutcome> {
    const { input: checked, late } = checkSubscriptionInput(input);
    const request = makeRequest(FLOWS.subscription, checked);
    // A caller who lost the answer may repeat the call on a day when this input can't start a subscription any more.
    if (late !== undefined && !(await this.#calls.isKnown({ workflowId: request.workflowId }))) throw late;
    return await askFlow(this.#client, this.#deadlines, request, Date.now() + waitOf(options));
  }

  /**
   * Commands to a subscription, by its reference. Each answers with the state of the subscription after the command. A
   * repeat with the same `commandId` has no further effect.
   * @throws HoldfastError `StateConflict` with the reason when the command is refused; else like {@link capture}
   */
  readonly subscription: SubscriptionCommands;

  /** Gets a risk score and decision; moves no money. Throws like {@link charge}. */
  async analyseRisk(input: AnalyseRiskInput, options: WaitOptions = {}): Promise<RiskOutcome> {
    return await this.#ask(FLOWS.analyseRisk, input, options);
  }

  /**
   * Captures the authorized amount, or a part of it. Answers with the capture's outcome, or `pending` or `unknown` when
   * that is not known within `waitFor`: repeat the call with the `commandId` of the answer.
   * @throws HoldfastError `InvalidInput`, `StateConflict` with the amounts, `NotFound` or `FlowNotFound` when it is refused;
   * `ReferenceConflict` when the `commandId` was given with another request; `EngineUnavailable`, `ProviderUnavailable`,
   * `RateLimited` or `UnexpectedResponse` without an answer: repeat it with the same `commandId`; `FlowStopped`
   */
  async capture(payment: PaymentRef, request: CaptureCommand = {}, options: WaitOptions = {}): Promise<CommandAnswer> {
    return await this.#command('capture', captureCommandSchema, payment, request, options);
  }

  /** Voids the authorization. Answers and throws like {@link capture}. */
  async void(payment: PaymentRef, request: VoidCommand = {}, options: WaitOptions = {}): Promise<CommandAnswer> {
    return await this.#command('void', voidCommandSchema, payment, request, options);
  }

  /**
   * Voids the hold and, once the service shows it as released, makes a new one with the stored card on a new payment.
   * Answers with the new authorization's outcome; without a new hold the flow ends. Throws like {@link capture}.
   */
  async reauthorize(
    reference: string,
    request: ReauthorizeCommand = {},
    options: WaitOptions = {},
  ): Promise<CommandAnswer> {
    return await this.#command('reauthorize', reauthorizeCommandSchema, reference, request, options);
  }

  /**
   * Refunds a payment, or a part of it. `payment` is the reference of the flow that created it, or
   * `{ payment: <payment id> }`; `reference` is the refund's own. Answers and throws like {@link capture}.
   */
  async refund(
    { payment, ...request }: RefundCommand & { payment: PaymentRef },
    options: WaitOptions = {},
  ): Promise<CommandAnswer> {
    return await this.#command('refund', refundCommandSchema, payment, request, options);
  }

  /**
   * Ends a risk review; `who` and `why` are kept with the result. If an identical decision is repeated after a lost
   * answer, it gets the outcome of the first one.
   * @throws HoldfastError `StateConflict` when no review is open, `InvalidInput`; else like {@link status}
   */
  async decideReview(flow: FlowRef, decision: DecideReview): Promise<Outcome> {
    const checked = checkInput(decideReviewSchema, decision);
    return await decide<Outcome>(this.#calls, flow, 'decideReview', checked, (ended) => isReviewedBy(ended, checked));
  }

  /**
   * Lets a credit or refund above a limit of its business unit be sent; `who` is another person than the one who asked.
   * Refunds wait at `{ workflowId: 'payment-actions-<payment id>' }`, once the flow that made the payment has ended.
   * @throws HoldfastError `StateConflict` when nothing waits for this, or it was decided otherwise, `InvalidInput`; else like
   * {@link status}
   */
  async approve(flow: FlowRef, decision: Approval): Promise<Approved> {
    return await decideOutgoing(this.#calls, flow, 'approve', decision);
  }

  /** Refuses it: nothing is sent. Throws like {@link approve}. */
  async reject(flow: FlowRef, decision: Approval): Promise<Approved> {
    return await decideOutgoing(this.#calls, flow, 'reject', decision);
  }

  /**
   * Follows a foreign transaction to its final status, or joins the flow that does. Moves no money.
   * @throws HoldfastError `ReferenceConflict` when that flow expects another payment, kind, amount, currency or business unit;
   * `EngineUnavailable` while no worker can say what an earlier call has asked for: call again
   */
  async resolvePending(input: ResolvePendingInput): Promise<{ workflowId: string }> {
    return await followTransaction(this.#calls, checkInput(FLOWS.resolvePending.schema, input));
  }

  /**
   * The status of a flow, open or ended.
   * @throws HoldfastError `FlowNotFound`; `UnexpectedResponse` without the key; `EngineUnavailable` after 30 seconds without an
   * answer, as while no worker runs
   */
  async status(flow: FlowRef): Promise<FlowStatus> {
    return await this.#calls.query<FlowStatus>(flow, QUERY_NAMES.status);
  }

  /**
   * One or two sentences for a person: what the flow waits for, until when, and what is safe to do. Throws like
   * {@link status}.
   */
  async explain(flow: FlowRef): Promise<string> {
    return await this.#calls.query<string>(flow, QUERY_NAMES.explain);
  }

  /**
   * Gives the flow an outcome that an operator has verified; the flow reads once more before it accepts it. A subscription
   * answers how it stands then. An identical decision that is repeated after a lost answer gets the outcome of the first one,
   * also as what the flow has ended with since.
   * @throws HoldfastError `StateConflict` with the reason when nothing waits for it, `InvalidInput`; else like {@link status}
   */
  async settleManually(flow: FlowRef, decision: SettleManually): Promise<Outcome | SubscriptionAnswer> {
    const checked = checkInput(settleManuallySchema, decision);
    return await decide<Outcome | SubscriptionAnswer>(this.#calls, flow, 'settleManually', checked, (ended) =>
      isSettledBy(ended, checked),
    );
  }

  /**
   * Makes the flow poll now instead of at its next poll time. Answers with "Woken: " and what {@link explain} says.
   * @throws HoldfastError `StateConflict` when the flow has ended, `InvalidInput`; else like {@link status}
   */
  async retryNow(flow: FlowRef, request: RetryNow = {}): Promise<string> {
    return await this.#calls.update<string>(flow, UPDATE_NAMES.retryNow, checkInput(retryNowSchema, request));
  }

  /** Waits for running calls, then closes the connection. */
  async close(): Promise<void> {
    await this.#deadlines.close();
  }

  async #ask<Type extends AskableType, Schema extends z.ZodType<object>>(
    flow: RepeatableFlow<Type, Schema>,
    input: z.input<Schema>,
    options: WaitOptions,
  ): Promise<FlowOutcomes[Type]> {
    const request = makeRequest(flow, checkInput(flow.schema, input));
    return await askFlow(this.#client, this.#deadlines, request, Date.now() + waitOf(options));
  }

  async #command<Schema extends z.ZodType<Sent['request']>>(
    name: Sent['name'],
    schema: SharedSchema<Schema>,
    payment: PaymentRef,
    request: unknown,
    options: WaitOptions,
  ): Promise<CommandAnswer> {
    const until = Date.now() + waitOf(options);
    const checked = checkInput(schema, request);
    return await sendCommand(this.#client, this.#deadlines, payment, { name, request: checked, until });
  }
}
