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
import type { ChargeInput, ChargeOutcome } from '../contract/charge.js';
import type {
  CaptureCommand,
  DecideReview,
  ReauthorizeCommand,
  RefundCommand,
  VoidCommand,
} from '../contract/commands.js';
import {
  captureCommandSchema,
  decideReviewSchema,
  reauthorizeCommandSchema,
  refundCommandSchema,
  voidCommandSchema,
} from '../contract/commands.js';
import type { CreditInput, CreditOutcome } from '../contract/credit.js';
import { durationMs } from '../contract/duration.js';
import type { RepeatableFlow } from '../contract/flows.js';
import { FLOWS } from '../contract/flows.js';
import type { FlowStatus, RetryNow, SettleManually } from '../contract/messages.js';
import { DEFAULT_WAIT_MS, LONGEST_WAIT_MS, retryNowSchema, settleManuallySchema } from '../contract/messages.js';
import { QUERY_NAMES, subscriptionWorkflowId, UPDATE_NAMES } from '../contract/names.js';
import type { Outcome } from '../contract/outcomes.js';
import type { ResolvePendingInput } from '../contract/resolve-pending.js';
import type { AnalyseRiskInput, RiskOutcome } from '../contract/risk.js';
import type { SharedSchema } from '../contract/shared-schema.js';
import type { SubscriptionInput } from '../contract/subscription.js';
import type { SubscriptionAnswer, SubscriptionOutcome } from '../contract/subscription-outcome.js';
import type { AskableType, FlowOutcomes } from './ask-flow.js';
import { askFlow } from './ask-flow.js';
import { runCardFlow } from './card-flows.js';
import { checkInput, checkSubscriptionInput } from './check-input.js';
import { decidedBefore, isReviewedBy, isSettledBy } from './decided-before.js';
import { Deadlines } from './deadlines.js';
import { HoldfastError } from './errors.js';
import type { FlowRef } from './flow-calls.js';
import { FlowCalls } from './flow-calls.js';
import { followTransaction } from './follow-transaction.js';
import type { CommandAnswer, PaymentRef, Sent } from './send-command.js';
import { sendCommand } from './send-command.js';
import { makeRequest } from './start-options.js';
import type { SubscriptionCommands } from './subscription-commands.js';
import { subscriptionCommands } from './subscription-commands.js';

export interface WaitOptions {
  /** How long to wait for an outcome before the answer is `unknown`: "10 seconds", or ms. */
  waitFor?: string | number;
}

/**
 * What a business service uses. Every method throws {@link HoldfastError} and nothing else, and may be
 * called again with the same arguments at any time: the reference makes it the same payment.
 */
export class HoldfastClient {
  readonly #client: Client;
  readonly #deadlines: Deadlines;
  readonly #calls: FlowCalls;

  /** `client` must carry Holdfast's data converter: see `connectHoldfast`. */
  constructor(client: Client) {
    this.#client = client;
    this.#deadlines = new Deadlines(client);
    this.#calls = new FlowCalls(client, this.#deadlines);
  }

  /**
   * Takes the money once, or joins the flow that already does under this reference.
   * @throws HoldfastError `InvalidInput` before anything is started; `ReferenceConflict` when the reference
   * belongs to another input; `EngineUnavailable` when Temporal did not answer (the flow may have started)
   */
  async charge(input: ChargeInput, options: WaitOptions = {}): Promise<ChargeOutcome> {
    return await this.#ask(FLOWS.charge, input, options);
  }

  /**
   * Holds the money. Answers `authorized` as soon as it is held; `capture` and `void` follow, or the deadline.
   * Throws like {@link charge}.
   */
  async authorize(input: AuthorizeInput, options: WaitOptions = {}): Promise<AuthorizeOutcome> {
    return await this.#ask(FLOWS.authorizeAndCapture, input, options);
  }

  /** Sends money to a card, without relation to an earlier payment. Throws like {@link charge}. */
  async credit(input: CreditInput, options: WaitOptions = {}): Promise<CreditOutcome> {
    return await this.#ask(FLOWS.credit, input, options);
  }

  /**
   * Puts a card on file once the buyer has consented by a transaction. Answers `stored` with what later transactions
   * need, `consentedNotStored` with what became of the consent's money. Throws like {@link charge}.
   */
  async storeCard(input: StoreCardInput, options: WaitOptions = {}): Promise<StoreCardOutcome> {
    return await this.#ask(FLOWS.storeCard, input, options);
  }

  /**
   * The cards that a customer has on file.
   * @throws HoldfastError `NotFound` for an unknown customer, `InvalidInput` where the unit stores no cards
   */
  async listCards(input: Omit<ListCardsInput, 'commandId'>): Promise<ListedCards> {
    const parsed = checkInput(FLOWS.listCards.schema, { ...input, commandId: randomUUID() });
    return await runCardFlow<ListedCards>(this.#calls, makeRequest(FLOWS.listCards, parsed));
  }

  /**
   * Takes a card off file. A repeated call with the same `commandId` gets the first one's answer.
   * @throws HoldfastError `NotFound` where the customer has no such card; `ReferenceConflict` when the `commandId`
   * was used for another card; `EngineUnavailable` while the service does not answer: call again with the same
   */
  async removeCard(input: Omit<RemoveCardInput, 'commandId'> & { commandId?: string }): Promise<RemovedCard> {
    const commandId = input.commandId ?? randomUUID();
    const parsed = checkInput(FLOWS.removeCard.schema, { ...input, commandId });
    return await runCardFlow<RemovedCard>(this.#calls, makeRequest(FLOWS.removeCard, parsed));
  }

  /**
   * Bills a stored card period after period. Answers as soon as card, customer and calendar have been found right, and
   * joins the subscription that was started with the same terms under this reference, however long ago.
   * @throws HoldfastError `InvalidInput` with every fault, before anything is stored or billed; else like {@link charge}
   */
  async subscribe(input: SubscriptionInput, options: WaitOptions = {}): Promise<SubscriptionOutcome> {
    const { input: checked, late } = checkSubscriptionInput(input);
    const request = makeRequest(FLOWS.subscription, checked);
    // A call whose answer was lost is repeated on a later day, when nothing could be started with it any more.
    if (late !== undefined && !(await this.#calls.isKnown({ workflowId: request.workflowId }))) throw late;
    return await askFlow(this.#client, this.#deadlines, request, Date.now() + waitOf(options));
  }

  /**
   * Commands to a subscription, by its reference. Each answers how the subscription stands once it is done; repeated
   * with the same `commandId` it acts once.
   * @throws HoldfastError `StateConflict` with the reason when it makes no sense; `InvalidInput`; `FlowNotFound`
   */
  readonly subscription: SubscriptionCommands = subscriptionCommands((reference, name, request, freshId) =>
    this.#calls.update<SubscriptionAnswer>({ workflowId: subscriptionWorkflowId(reference) }, name, request, freshId),
  );

  /** Score and decision; nothing else moves. Throws like {@link charge}. */
  async analyseRisk(input: AnalyseRiskInput, options: WaitOptions = {}): Promise<RiskOutcome> {
    return await this.#ask(FLOWS.analyseRisk, input, options);
  }

  /**
   * Takes what is held, or a part of it. The answer is how the capture ended; `pending` or `unknown` when that
   * is not known within `waitFor`: repeat the call with the same `commandId`.
   * @throws HoldfastError `InvalidInput`, `StateConflict` with the numbers when it is refused
   */
  async capture(payment: PaymentRef, request: CaptureCommand = {}, options: WaitOptions = {}): Promise<CommandAnswer> {
    return await this.#command('capture', captureCommandSchema, payment, request, options);
  }

  /** Lets go of what is held. Answers and throws like {@link capture}. */
  async void(payment: PaymentRef, request: VoidCommand = {}, options: WaitOptions = {}): Promise<CommandAnswer> {
    return await this.#command('void', voidCommandSchema, payment, request, options);
  }

  /**
   * Lets the hold go, and once the service shows it as gone makes a new one with the stored card, on a payment of its
   * own. The answer is how the new authorization ended; without a new hold the flow ends. Throws like {@link capture}.
   */
  async reauthorize(
    reference: string,
    request: ReauthorizeCommand = {},
    options: WaitOptions = {},
  ): Promise<CommandAnswer> {
    return await this.#command('reauthorize', reauthorizeCommandSchema, reference, request, options);
  }

  /**
   * Gives back what was taken, or a part of it. `payment` is the reference of the flow that took it, or
   * `{ payment: <payment id> }`; `reference` is the refund's own. Answers and throws like {@link capture}.
   */
  async refund(
    { payment, ...request }: RefundCommand & { payment: PaymentRef },
    options: WaitOptions = {},
  ): Promise<CommandAnswer> {
    return await this.#command('refund', refundCommandSchema, payment, request, options);
  }

  /**
   * Ends a risk review; who and why are kept with the result. Given again in the same words, after a lost answer, it is
   * answered with what the first one did.
   */
  async decideReview(flow: FlowRef, decision: DecideReview): Promise<Outcome> {
    const checked = checkInput(decideReviewSchema, decision);
    return await this.#calls
      .update<Outcome>(flow, UPDATE_NAMES.decideReview, checked)
      .catch((refusal: unknown) =>
        decidedBefore(this.#calls, flow, refusal, (outcome) => isReviewedBy(outcome, checked)),
      );
  }

  /**
   * Follows a transaction that was made elsewhere to its final status, or joins the flow that did. It can't
   * move money.
   * @throws HoldfastError `ReferenceConflict` when that flow expects another sum, currency or business unit
   */
  async resolvePending(input: ResolvePendingInput): Promise<{ workflowId: string }> {
    return await followTransaction(this.#calls, checkInput(FLOWS.resolvePending.schema, input));
  }

  /** Where the flow stands, also after it has ended. */
  async status(flow: FlowRef): Promise<FlowStatus> {
    return await this.#calls.query<FlowStatus>(flow, QUERY_NAMES.status);
  }

  /** One or two sentences for a person: what it waits for, until when, what is safe to do. */
  async explain(flow: FlowRef): Promise<string> {
    return await this.#calls.query<string>(flow, QUERY_NAMES.explain);
  }

  /**
   * States what an operator found out elsewhere; the flow reads once more before it believes it. Given again in the same
   * words, after a lost answer, it is answered with what the first one did.
   */
  async settleManually(flow: FlowRef, decision: SettleManually): Promise<ChargeOutcome> {
    const checked = checkInput(settleManuallySchema, decision);
    return await this.#calls
      .update<ChargeOutcome>(flow, UPDATE_NAMES.settleManually, checked)
      .catch(
        async (refusal: unknown) =>
          (await decidedBefore(this.#calls, flow, refusal, (outcome) =>
            isSettledBy(outcome, checked),
          )) as unknown as ChargeOutcome,
      );
  }

  /** Makes the flow look at once instead of at its next poll. */
  async retryNow(flow: FlowRef, request: RetryNow = {}): Promise<string> {
    return await this.#calls.update<string>(flow, UPDATE_NAMES.retryNow, checkInput(retryNowSchema, request));
  }

  /** Waits for the calls under way, then closes the connection. */
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

function waitOf(options: WaitOptions): number {
  const ms = durationMs(options.waitFor ?? DEFAULT_WAIT_MS);
  if (ms !== undefined && ms <= LONGEST_WAIT_MS) return ms;
  const fault = `waitFor: ${JSON.stringify(options.waitFor)} is not a duration of at most 10 minutes, such as "8 seconds"`;
  throw new HoldfastError('InvalidInput', `Nothing was started: ${fault}`, [fault]);
}
