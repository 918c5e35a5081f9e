import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../../src/client/index.js';
import type {
  BillNow,
  CancelSubscription,
  ChangeCard,
  ChangePlan,
  Pause,
} from '../../../src/contract/subscription-commands.js';
import type { RefundPeriod, Resume } from '../../../src/contract/subscription-commands.js';
import {
  attemptReference,
  paymentActionsWorkflowId,
  paymentWorkflowId,
  subscriptionWorkflowId,
} from '../../../src/contract/names.js';
import type { FlowStatus } from '../../../src/contract/messages.js';
import type { Outcome } from '../../../src/contract/outcomes.js';
import type { Interval, SubscriptionInput } from '../../../src/contract/subscription.js';
import type { SubscriptionAnswer, SubscriptionEnded } from '../../../src/contract/subscription-outcome.js';
import { newAccount, type Account, type SubscriptionCommand, type ToldSubscription } from './account.js';
import type { DeskParts, OnFile } from './desk.js';
import { askPatiently, GaveUp, pausesOf, type Patience } from './patience.js';

const AGAIN_MS = 250;
/** Every question about the end is an entry in the history. */
const END_AGAIN_MS = 1_000;
const DAY_MS = 86_400_000;
const ENDS = new Set<string>(['completed', 'cancelled', 'givenUp']);

/** What a course of events wants billed. */
export interface Wanted {
  interval: Interval['unit'];
  periods: number;
  /** The first bill was due so many days ago. */
  sinceDays: number;
  /** Whatever else is to be said of it. */
  more?: Partial<SubscriptionInput>;
}

interface Requests extends Record<SubscriptionCommand, object> {
  billNow: BillNow;
  cancel: CancelSubscription;
  changeCard: ChangeCard;
  changePlan: ChangePlan;
  pause: Pause;
  refundPeriod: RefundPeriod;
  resume: Resume;
}
type Told = ToldSubscription['commands'][number];

/** Asks for one subscription, and for all that it has tried once it has ended. */
export class SubscriptionDesk {
  readonly reference: string;
  readonly #parts: DeskParts;
  readonly #account: Account;
  readonly #told: ToldSubscription;
  readonly #input: SubscriptionInput;

  constructor(parts: DeskParts, account: Account, card: OnFile, { interval, periods, sinceDays, more }: Wanted) {
    this.#parts = parts;
    this.#account = account;
    this.reference = `${account.reference}-s`;
    const { customerId, token, cardOnFile } = card;
    const { amount, currency, businessUnit } = account;
    this.#told = { reference: this.reference, amount, currency, periods, commands: [] };
    account.subscription = this.#told;
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
    return this.#told.ended?.billedPeriods ?? 0;
  }

  async begin(): Promise<void> {
    const refusal = await this.#ask(AGAIN_MS, ({ status }) => status !== 'unknown');
    if (refusal !== undefined) throw refusal;
  }

  /** With a `commandId` of its own kind, so that whoever asks again for an answer gives no further command. */
  async command<Name extends SubscriptionCommand>(
    name: Name,
    request: Requests[Name],
    commandId: string = name,
  ): Promise<Told> {
    const told: Told = { name };
    this.#told.commands.push(told);
    const commands = this.#parts.holdfast.subscription as unknown as Record<
      SubscriptionCommand,
      (reference: string, request: object) => Promise<SubscriptionAnswer>
    >;
    const refusal = await askPatiently(
      this.#patience(AGAIN_MS),
      () => commands[name](this.reference, { ...request, commandId }),
      (answer) => {
        told.answer = answer;
        return isOpen(answer.result?.status) ? 'ask again' : 'enough';
      },
    );
    if (refusal !== undefined) {
      told.refusal = refusal;
      delete told.answer;
    }
    return told;
  }

  /** Waits until it stands like this, or has ended. */
  async reaches(stands: (status: FlowStatus) => boolean): Promise<void> {
    const pause = pausesOf(this.#patience(AGAIN_MS));
    for (;;) {
      const status = await this.#status({ workflowId: subscriptionWorkflowId(this.reference) });
      if (status !== undefined && (ENDS.has(status.status) || stands(status))) return;
      if (Date.now() >= this.#parts.limit()) throw new GaveUp();
      await sleep(pause());
    }
  }

  /** Waits for its end, and then asks for every payment that it has tried. */
  async ended(): Promise<void> {
    const refusal = await this.#ask(END_AGAIN_MS, (answer) => {
      if (!ENDS.has(answer.status)) return false;
      this.#told.ended = answer as SubscriptionEnded;
      return true;
    });
    if (refusal !== undefined) {
      this.#account.wrongs.push(`its subscription ended with an error: ${refusal.message}`);
      return;
    }
    for (let period = 1; period <= this.#told.periods; period += 1) {
      for (let attempt = 1; await this.#enlist(attemptReference(this.reference, period, attempt)); attempt += 1);
    }
  }

  /** Workflow ids of the payment under way and of what is done to the last one; none while nobody can be asked. */
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

  /** Keeps the books of one payment. False when it was never tried. */
  async #enlist(reference: string): Promise<boolean> {
    const status = await this.#status(reference);
    if (status === undefined) return false;
    const { number, scenario, profile, amount, currency, businessUnit } = this.#account;
    const account = newAccount({
      ...{ number, scenario, profile, reference, amount, currency },
      partOf: this.#account.reference,
    });
    account.businessUnit = businessUnit;
    account.endedAt = Date.now();
    const { outcome, paymentId } = status;
    if (outcome !== undefined) account.outcome = outcome;
    if (paymentId !== undefined) account.paymentId = paymentId;
    account.told.push({ what: 'charge', expected: 'any', ...(outcome !== undefined && { answer: outcome }) });
    for (const { name, answer } of this.#told.commands) {
      const { result, currency } = answer ?? {};
      if (name !== 'refundPeriod' || result?.reference !== reference) continue;
      // It names the payment that it was of, and the answer that it stands in names the currency.
      account.told.push({ what: 'refund', expected: 'succeeded', answer: { currency, ...result } as Outcome });
    }
    this.#parts.enlist(account);
    return true;
  }

  /** Undefined when there is no such flow. */
  async #status(flow: string | { workflowId: string }): Promise<FlowStatus | undefined> {
    let status: FlowStatus | undefined;
    const refusal = await askPatiently(
      this.#patience(AGAIN_MS),
      () => this.#parts.holdfast.status(flow),
      (answer) => {
        status = answer;
        // A payment that was reset may go on after its subscription has ended.
        return answer.outcome === undefined && answer.waitingFor !== 'nothing' && typeof flow === 'string'
          ? 'ask again'
          : 'enough';
      },
    );
    if (refusal !== undefined && refusal.type !== 'FlowNotFound') throw refusal;
    return status;
  }

  #ask(pauseMs: number, stops: (answer: { status: string }) => boolean): Promise<HoldfastError | undefined> {
    return askPatiently(
      this.#patience(pauseMs),
      (waitFor) => this.#parts.holdfast.subscribe(this.#input, { waitFor }),
      (answer) => (stops(answer) ? 'enough' : 'ask again'),
    );
  }

  #patience(pauseMs: number): Patience {
    const { longestPauseMs, waitForMs } = this.#parts;
    return { limit: () => this.#parts.limit(), pauseMs, longestPauseMs, waitForMs };
  }
}

/** Of a payment or refund that is not known yet. */
function isOpen(status: string | undefined): boolean {
  return status === 'pending' || status === 'unknown';
}
