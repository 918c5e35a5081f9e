import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { UPDATE_NAMES } from '../contract/names.js';
import type { SharedSchema } from '../contract/shared-schema.js';
import type {
  BillNow,
  CancelSubscription,
  ChangeCard,
  ChangePlan,
  Pause,
  RefundPeriod,
  Resume,
} from '../contract/subscription-commands.js';
import {
  billNowSchema,
  cancelSubscriptionSchema,
  changeCardSchema,
  changePlanSchema,
  pauseSchema,
  refundPeriodSchema,
  resumeSchema,
} from '../contract/subscription-commands.js';
import type { SubscriptionAnswer } from '../contract/subscription-outcome.js';
import { checkInput } from './check-input.js';
import { HoldfastError, naming } from './errors.js';

type Command<Request> = (reference: string, request: Request) => Promise<SubscriptionAnswer>;
type PlainCommand<Request> = (reference: string, request?: Request) => Promise<SubscriptionAnswer>;

/** What can be asked of a running subscription, by its reference. */
export interface SubscriptionCommands {
  /** No bill leaves until it is resumed; a payment under way is followed to its end. */
  pause: PlainCommand<Pause>;
  resume: PlainCommand<Resume>;
  /** From the next attempt on, which is made at once where a bill is past due. */
  changeCard: Command<ChangeCard>;
  /** Amount, interval or time of day from the first period on that is not due yet; `appliesFrom` says which. */
  changePlan: Command<ChangePlan>;
  cancel: Command<CancelSubscription>;
  /** Answers once the payment is known; refused when the period has been billed. */
  billNow: Command<BillNow>;
  refundPeriod: PlainCommand<RefundPeriod>;
}

/** Sends an update under the id of its request, or under a fresh one. */
type Send = (reference: string, update: string, request: object, freshId?: string) => Promise<SubscriptionAnswer>;

const MOST_REPEATS = 2;

export function subscriptionCommands(send: Send): SubscriptionCommands {
  const command =
    <Request extends { commandId?: string | undefined }>(
      name: keyof typeof UPDATE_NAMES,
      schema: SharedSchema<z.ZodType<unknown, Request>>,
    ) =>
    async (reference: string, request?: Request): Promise<SubscriptionAnswer> => {
      // Named here: a call that is repeated on its way is one command.
      const named = { ...request, commandId: request?.commandId ?? randomUUID() };
      const checked = checkInput(schema, named) as object;
      for (let repeats = 0; ; repeats += 1) {
        try {
          return await sendAnew(send, reference, UPDATE_NAMES[name], checked);
        } catch (error) {
          // The server drops a command that arrives while one run gives way to the next.
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
    cancel: command('cancel', cancelSubscriptionSchema),
    billNow: command('billNow', billNowSchema),
    refundPeriod: command('refundPeriod', refundPeriodSchema),
  };
}

/** A subscription takes longer to find out that it does not know how a payment or refund has ended. */
const OLD_ANSWER_MS = 5_000;

/** The server gives an update's first answer for ever, and at once: what is known by now the subscription tells. */
async function sendAnew(send: Send, reference: string, name: string, request: object): Promise<SubscriptionAnswer> {
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
