import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../../src/client/index.js';
import type {
  BillNow,
  CancelSubscription,
  ChangeCard,
  ChangePlan,
  ChangeTerms,
  Pause,
  RefundPeriod,
  Resume,
  SetAmount,
  SkipPeriod,
  SubscriptionAnswer,
  SubscriptionEnded,
} from '../../../src/contract/subscription-commands.js';
import {
  attemptReference,
  paymentActionsWorkflowId,
  paymentWorkflowId,
  subscriptionWorkflowId,
} from '../../../src/contract/names.js';
import type { FlowStatus, Outcome } from '../../../src/contract/messages.js';
import type { Interval, SubscriptionInput } from '../../../src/contract/subscription.js';
import {
  newPaymentRecord,
  type PaymentRecord,
  type SubscriptionCommand,
  type SubscriptionRecord,
} from '../../audit/payment-record.js';
import {
  type DriverContext,
  type OnFile,
  askUntilAnswered,
  NoAnswerInTime,
  pausesOf,
  type RetryBudget,
} from './driver-context.js';

const AGAIN_MS = 250;
/** Every request for the outcome adds an entry to the history. */
const END_AGAIN_MS = 1_000;
const DAY_MS = 86_400_000;
const ENDS = new Set<string>(['completed', 'cancelled', 'givenUp']);

/** The subscription that a scenario wants. */
export interface Wanted {
  interval: Interval['unit'];
  periods: number;
  /** Days since the first bill was due. */
  sinceDays: number;
  /** Further fields of the input. */
  more?: Partial<SubscriptionInput>;
}

interface Requests extends Record<SubscriptionCommand, object> {
  billNow: BillNow;
  cancel: CancelSubscription;
  changeCard: ChangeCard;
  changePlan: ChangePlan;
  changeTerms: ChangeTerms;
  pause: Pause;
  refundPeriod: RefundPeriod;
  resume: Resume;
  setAmount: SetAmount;
  skipPeriod: SkipPeriod;
}
type CommandRecord = SubscriptionRecord['commands'][number];

/** Drives one subscription and, once it has ended, reads the outcome of every payment that it attempted. */
export class SubscriptionDriver {
  readonly reference: string;
  readonly #parts: DriverContext;
  readonly #record: PaymentRecord;
  readonly #subscription: SubscriptionRecord;
  readonly #input: SubscriptionInput;

  constructor(
    parts: DriverContext,
    record: PaymentRecord,
    card: OnFile,
    { interval, periods, sinceDays, more }: Wanted,
  ) {
    this.#parts = parts;
    this.#record = record;
    this.reference = `${record.reference}-s`;
    const { customerId, token, cardOnFile } = card;
    const { amount, currency, businessUnit } = record;
    this.#subscription = { reference: this.reference, amount, currency, periods, commands: [] };
    record.subscription = this.#subscription;
    this.#input = {
      reference: this.reference,
      customerId,
      token,
      ...('consentTransactionId' in cardOnFile &&
        cardOnFile.consentTransactionId !== undefined && { consentTransactionId: cardOnFile.consentTransactionId }),
      amount,
      currency,
      interval: { every: 1, unit: interval },
      anchor: new Date(Date.now() - sinceDays * DAY_MS).toISOString().slice(0, 10),
      timeZone: 'UTC',
      billAt: '00:00',
      jitter: 0,
      periods,
      missedPeriods: 'billAll',
      businessUnit,
      ...more,
    };
  }

  get billedPeriods(): number {
    return this.#subscription.ended?.billedPeriods ?? 0;
  }

  async begin(): Promise<void> {
    const refusal = await this.#ask(AGAIN_MS, ({ status }) => status !== 'unknown');
    if (refusal !== undefined) throw refusal;
  }

  /** Sends a command with a fixed `commandId` (by default its name), so a retry is the same command. */
  async command<Name extends SubscriptionCommand>(
    name: Name,
    request: Requests[Name],
    commandId: string = name,
  ): Promise<CommandRecord> {
    const given: CommandRecord = { name };
    this.#subscription.commands.push(given);
    const commands = this.#parts.holdfast.subscription as unknown as Record<
      SubscriptionCommand,
      (reference: string, request: object) => Promise<SubscriptionAnswer>
    >;
    const refusal = await askUntilAnswered(
      this.#retryBudget(AGAIN_MS),
      () => commands[name](this.reference, { ...request, commandId }),
      (answer) => {
        given.answer = answer;
        return isOpen(answer.result?.status) ? 'ask again' : 'enough';
      },
    );
    if (refusal !== undefined) {
      given.refusal = refusal;
      delete given.answer;
    }
    return given;
  }

  /** Waits until `stands` is true of its status, or it has ended. */
  async reaches(stands: (status: FlowStatus) => boolean): Promise<void> {
    const pause = pausesOf(this.#retryBudget(AGAIN_MS));
    for (;;) {
      const status = await this.#status({ workflowId: subscriptionWorkflowId(this.reference) });
      if (status !== undefined && (ENDS.has(status.status) || stands(status))) return;
      if (Date.now() >= this.#parts.limit()) throw new NoAnswerInTime();
      await sleep(pause());
    }
  }

  /** Waits for its end, then records every payment that it attempted. */
  async ended(): Promise<void> {
    const refusal = await this.#ask(END_AGAIN_MS, (answer) => {
      if (!ENDS.has(answer.status)) return false;
      this.#subscription.ended = answer as SubscriptionEnded;
      return true;
    });
    if (refusal !== undefined) {
      this.#record.violations.push(`its subscription ended with an error: ${refusal.message}`);
      return;
    }
    for (let period = 1; period <= this.#subscription.periods; period += 1) {
      for (let attempt = 1; await this.#addRecord(attemptReference(this.reference, period, attempt)); attempt += 1);
    }
  }

  /** Workflow ids of the open payment and of the commands on the last billed one. Empty if they can't be read. */
  async flows(): Promise<string[]> {
    try {
      const workflowId = subscriptionWorkflowId(this.reference);
      const { subscription } = await this.#parts.holdfast.status({ workflowId });
      const { open, lastBilled } = subscription ?? {};
      return [
        ...(open === undefined
          ? []
          : [paymentWorkflowId(attemptReference(this.reference, open.period, open.attempts))]),
        ...(lastBilled?.paymentId === undefined ? [] : [paymentActionsWorkflowId(lastBilled.paymentId)]),
      ];
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      return [];
    }
  }

  /** Records one payment. Returns false if this attempt was never made. */
  async #addRecord(reference: string): Promise<boolean> {
    const status = await this.#status(reference);
    if (status === undefined) return false;
    const { number, scenario, profile, amount, currency, businessUnit } = this.#record;
    const record = newPaymentRecord({
      ...{ number, scenario, profile, reference, amount, currency },
      partOf: this.#record.reference,
    });
    record.businessUnit = businessUnit;
    record.endedAt = Date.now();
    const { outcome, paymentId } = status;
    if (outcome !== undefined) record.outcome = outcome;
    if (paymentId !== undefined) record.paymentId = paymentId;
    record.operations.push({ what: 'charge', expected: 'any', ...(outcome !== undefined && { answer: outcome }) });
    for (const { name, answer } of this.#subscription.commands) {
      const { result, currency } = answer ?? {};
      if (name !== 'refundPeriod' || result?.reference !== reference) continue;
      // The result names its payment but not its currency, which the answer around it has.
      record.operations.push({ what: 'refund', expected: 'succeeded', answer: { currency, ...result } as Outcome });
    }
    this.#parts.addRecord(record);
    return true;
  }

  /** undefined if there is no such flow. */
  async #status(flow: string | { workflowId: string }): Promise<FlowStatus | undefined> {
    let status: FlowStatus | undefined;
    const refusal = await askUntilAnswered(
      this.#retryBudget(AGAIN_MS),
      () => this.#parts.holdfast.status(flow),
      (answer) => {
        status = answer;
        // A payment that was reset may still be open after its subscription has ended.
        return answer.outcome === undefined && answer.waitingFor !== 'nothing' && typeof flow === 'string'
          ? 'ask again'
          : 'enough';
      },
    );
    if (refusal !== undefined && refusal.type !== 'FlowNotFound') throw refusal;
    return status;
  }

  #ask(pauseMs: number, stops: (answer: { status: string }) => boolean): Promise<HoldfastError | undefined> {
    return askUntilAnswered(
      this.#retryBudget(pauseMs),
      (waitFor) => this.#parts.holdfast.subscribe(this.#input, { waitFor }),
      (answer) => (stops(answer) ? 'enough' : 'ask again'),
    );
  }

  #retryBudget(pauseMs: number): RetryBudget {
    const { longestPauseMs, waitForMs } = this.#parts;
    return { limit: () => this.#parts.limit(), pauseMs, longestPauseMs, waitForMs };
  }
}

/** Whether the status of a payment or refund is not final. */
function isOpen(status: string | undefined): boolean {
  return status === 'pending' || status === 'unknown';
}
