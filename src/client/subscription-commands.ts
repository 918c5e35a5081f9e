import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { UPDATE_NAMES } from '../contract/names.js';
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
  type SubscriptionAnswer,
} from '../contract/subscription-commands.js';
import { checkInput } from './start-options.js';
import { HoldfastError, naming } from './errors.js';

/** Commands to a running subscription, by its reference. */
export interface SubscriptionCommands {
  /** Sends no bill until `resume`; a payment in progress is followed to its end. */
  pause: (reference: string, request?: Pause) => Promise<SubscriptionAnswer>;
  resume: (reference: string, request?: Resume) => Promise<SubscriptionAnswer>;
  /** Applies from the next attempt on, which is made at once if a bill is past due. */
  changeCard: (reference: string, request: ChangeCard) => Promise<SubscriptionAnswer>;
  /** Changes amount, interval or time of day from the first period that is not due yet; see `appliesFrom`. */
  changePlan: (reference: string, request: ChangePlan) => Promise<SubscriptionAnswer>;
  /** Changes dunning, missed periods, statement text or end, from now on. */
  changeTerms: (reference: string, request: ChangeTerms) => Promise<SubscriptionAnswer>;
  /** Ends now or with the present period, or takes such an end back. */
  cancel: (reference: string, request: CancelSubscription) => Promise<SubscriptionAnswer>;
  /** Answers once the payment's outcome is known; refused when the period has been billed. */
  billNow: (reference: string, request: BillNow) => Promise<SubscriptionAnswer>;
  refundPeriod: (reference: string, request?: RefundPeriod) => Promise<SubscriptionAnswer>;
}

/** Sends an update with an id made from its request, or with `freshId`. */
type Send = (reference: string, update: string, request: object, freshId?: string) => Promise<SubscriptionAnswer>;

const MOST_REPEATS = 2;

export function subscriptionCommands(send: Send): SubscriptionCommands {
  const command =
    <Request extends { commandId?: string | undefined }>(
      name: keyof typeof UPDATE_NAMES,
      schema: SharedSchema<z.ZodType<unknown, Request>>,
    ) =>
    async (reference: string, request?: Request): Promise<SubscriptionAnswer> => {
      // Set the commandId before the loop, so that all repeats are one command.
      const named = { ...request, commandId: request?.commandId ?? randomUUID() };
      const checked = checkInput(schema, named) as object;
      for (let repeats = 0; ; repeats += 1) {
        try {
          return await sendAgain(send, reference, UPDATE_NAMES[name], checked);
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
    changeTerms: command('changeTerms', changeTermsSchema),
    cancel: command('cancel', cancelSubscriptionSchema),
    billNow: command('billNow', billNowSchema),
    refundPeriod: command('refundPeriod', refundPeriodSchema),
  };
}

/** ms. A new answer that an outcome is not known takes longer than this; a faster one is a stored answer. */
const OLD_ANSWER_MS = 5_000;

/** The server returns an update's first answer for ever and at once, so a stale one is replaced by a fresh update. */
async function sendAgain(send: Send, reference: string, name: string, request: object): Promise<SubscriptionAnswer> {
  const asked = Date.now();
  const isOld = () => Date.now() - asked <= OLD_ANSWER_MS;
  const answer = await send(reference, name, request).catch((error: unknown) => {
    if (error instanceof HoldfastError && error.type === 'ProviderUnavailable' && isOld()) return undefined;
    throw error;
  });
  if (answer === undefined) return await send(reference, name, request, randomUUID());
  const status = answer.result?.status;
  if (!isOld() || (status !== 'pending' && status !== 'unknown')) return answer;
  return await send(reference, name, request, randomUUID()).catch((error: unknown) => {
    if (error instanceof HoldfastError && error.type === 'StateConflict') return answer;
    throw error;
  });
}
