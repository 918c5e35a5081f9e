import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { QUERY_NAMES, subscriptionWorkflowId, UPDATE_NAMES } from '../contract/names.js';
import {
  type BillingSchedule,
  type BillsAndSchedule,
  type Preview,
  type PreviewRequest,
  previewSchema,
  type SubscriptionBills,
} from '../contract/subscription-bills.js';
import type { SharedSchema } from '../contract/shared-schema.js';
import {
  type BillNow,
  billNowSchema,
  type CancelSubscription,
  cancelSubscriptionSchema,
  type ChangeCard,
  changeCardSchema,
  type ChangePlan,
  changePlanSchema,
  type ChangeTerms,
  changeTermsSchema,
  type Pause,
  pauseSchema,
  type RefundPeriod,
  refundPeriodSchema,
  type Resume,
  resumeSchema,
  type SetAmount,
  setAmountSchema,
  type SkipPeriod,
  skipPeriodSchema,
  type SubscriptionAnswer,
} from '../contract/subscription-commands.js';
import { billsToCome, scheduleAfter } from '../domain/bills-to-come.js';
import { checkInput } from './start-options.js';
import { HoldfastError, naming } from './errors.js';
import { mayBeOld } from './update-ids.js';
import type { FlowCalls } from './flow-calls.js';
import { answerOfEnded, type AskForRefund, saysItHasEnded } from './given-before.js';

/** Commands to a running subscription, by its reference. */
export interface SubscriptionCommands {
  /** Sends no bill until `resume`; a payment in progress is followed to its end. */
  pause: (reference: string, request?: Pause) => Promise<SubscriptionAnswer>;
  resume: (reference: string, request?: Resume) => Promise<SubscriptionAnswer>;
  /** Applies from the next attempt on, which is made at once if a bill is past due. */
  changeCard: (reference: string, request: ChangeCard) => Promise<SubscriptionAnswer>;
  /**
   * Changes amounts, interval or time of day from the first period that is not due yet, or amounts from a later one; see
   * `appliesFrom`.
   */
  changePlan: (reference: string, request: ChangePlan) => Promise<SubscriptionAnswer>;
  /** Bills nothing for a period that is not due yet, or takes that back. */
  skipPeriod: (reference: string, request: SkipPeriod) => Promise<SubscriptionAnswer>;
  /** Supplies the amount of a period of a metered subscription, before its payment begins. */
  setAmount: (reference: string, request: SetAmount) => Promise<SubscriptionAnswer>;
  /** Changes dunning, missed periods, statement text, notices, metadata or end, from now on. */
  changeTerms: (reference: string, request: ChangeTerms) => Promise<SubscriptionAnswer>;
  /** Ends now or with the present period, or takes such an end back. */
  cancel: (reference: string, request: CancelSubscription) => Promise<SubscriptionAnswer>;
  /** Answers once the payment's outcome is known; refused when the period has been billed. */
  billNow: (reference: string, request: BillNow) => Promise<SubscriptionAnswer>;
  refundPeriod: (reference: string, request?: RefundPeriod) => Promise<SubscriptionAnswer>;
  /** What has become of each period, also after the end. */
  bills: (reference: string) => Promise<SubscriptionBills>;
  /**
   * The next bills, as it stands and after a change. Changes nothing.
   * @throws HoldfastError with which the change would be refused
   */
  preview: (reference: string, request: PreviewRequest) => Promise<Preview>;
}

/** Sends an update with an id made from its request, or with `freshId`. */
type Send = (reference: string, update: string, request: object, freshId?: string) => Promise<SubscriptionAnswer>;

const MOST_REPEATS = 2;

/** @param askForRefund for a refund that a subscription which has ended had begun */
export function subscriptionCommands(calls: FlowCalls, askForRefund: AskForRefund): SubscriptionCommands {
  const flowOf = (reference: string) => ({ workflowId: subscriptionWorkflowId(reference) });
  const send: Send = (reference, name, request, freshId) => calls.update(flowOf(reference), name, request, freshId);
  const ask = (reference: string): Promise<BillsAndSchedule> => calls.query(flowOf(reference), QUERY_NAMES.bills);
  const command =
    <Request extends { commandId?: string | undefined }>(
      name: keyof typeof UPDATE_NAMES,
      schema: SharedSchema<z.ZodType<unknown, Request>>,
    ) =>
    async (reference: string, request?: Request): Promise<SubscriptionAnswer> => {
      // Set the commandId before the loop, so that all repeats are one command.
      const named = { ...request, commandId: request?.commandId ?? randomUUID() };
      const checked = checkInput(schema, named) as object;
      const given = { name, request: { ...checked, commandId: named.commandId } };
      for (let repeats = 0; ; repeats += 1) {
        try {
          const answer = await sendAgain(send, reference, UPDATE_NAMES[name], checked).catch((error: unknown) => {
            if (!saysItHasEnded(error)) throw error;
            return answerOfEnded(() => ask(reference), askForRefund, given, error);
          });
          return isUnsettled(answer) ? { ...answer, commandId: named.commandId } : answer;
        } catch (error) {
          // The server drops a command that arrives while a run continues as new.
          if (!(error instanceof HoldfastError)) throw error;
          if (!error.askAgain || repeats === MOST_REPEATS)
            throw request?.commandId === undefined ? naming(error, named.commandId) : error;
        }
      }
    };
  return {
    pause: command('pause', pauseSchema),
    resume: command('resume', resumeSchema),
    changeCard: command('changeCard', changeCardSchema),
    changePlan: command('changePlan', changePlanSchema),
    skipPeriod: command('skipPeriod', skipPeriodSchema),
    setAmount: command('setAmount', setAmountSchema),
    changeTerms: command('changeTerms', changeTermsSchema),
    cancel: command('cancel', cancelSubscriptionSchema),
    billNow: command('billNow', billNowSchema),
    refundPeriod: command('refundPeriod', refundPeriodSchema),
    async bills(reference) {
      const { schedule: _, given: _given, ...bills } = await ask(reference);
      return bills;
    },
    async preview(reference, request) {
      const checked = checkInput(previewSchema, request);
      return previewOf((await ask(reference)).schedule, checked, Date.now());
    },
  };
}

function previewOf(schedule: BillingSchedule, { count, change }: PreviewRequest, now: number): Preview {
  const bills = billsToCome(schedule, count, now);
  if (change === undefined) return { bills };
  const changed = scheduleAfter(schedule, change, now);
  if ('refusal' in changed)
    throw new HoldfastError(changed.isInput ? 'InvalidInput' : 'StateConflict', changed.refusal);
  return { bills, changed: billsToCome(changed, count, now) };
}

function isUnsettled({ result }: SubscriptionAnswer): boolean {
  return result?.status === 'pending' || result?.status === 'unknown';
}

/** The server returns an update's first answer for ever and at once, so a stale one is replaced by a fresh update. */
async function sendAgain(send: Send, reference: string, name: string, request: object): Promise<SubscriptionAnswer> {
  const asked = Date.now();
  const isOld = () => mayBeOld(asked);
  const answer = await send(reference, name, request).catch((error: unknown) => {
    if (error instanceof HoldfastError && error.type === 'ProviderUnavailable' && isOld()) return undefined;
    throw error;
  });
  if (answer === undefined) return await send(reference, name, request, randomUUID());
  if (!isOld() || !isUnsettled(answer)) return answer;
  return await send(reference, name, request, randomUUID()).catch((error: unknown) => {
    const isRefused = error instanceof HoldfastError && error.type === 'StateConflict';
    if (isRefused && !saysItHasEnded(error)) return answer;
    throw error;
  });
}
