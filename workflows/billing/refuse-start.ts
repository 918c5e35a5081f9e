import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  setHandler,
} from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import { businessUnitSchema, customerIdSchema, uuidSchema } from '../../src/contract/fields.js';
import { isUndecodable } from '../../src/contract/payload-marks.js';
import { invalidInput } from '../kit/start-guard.js';
import { subscriptionOutcomeUpdate } from '../messages.js';
import { isHandedOver } from '../kit/outbox.js';
import { read } from '../policies.js';
import { show } from './show.js';
import type { Billing } from './state.js';
import { tellOf } from './tell.js';

/** An update sent along with the start must fail with the reason, not with "workflow completed". */
export async function refuseSubscriptionStart(failure: unknown, raw: unknown): Promise<never> {
  return await CancellationScope.nonCancellable(async () => {
    const whole = withCardFaults(failure, raw);
    setHandler(subscriptionOutcomeUpdate, async () => {
      throw await whole;
    });
    const reason = await whole;
    await condition(allHandlersFinished);
    throw reason;
  });
}

/** Joins the faults of the fields with those of card and customer, if the service states them for certain. */
async function withCardFaults(failure: unknown, raw: unknown): Promise<Error> {
  if (!(failure instanceof ApplicationFailure)) return failure instanceof Error ? failure : new Error(String(failure));
  const faults: unknown = failure.details?.[0];
  if (failure.type !== FAILURE_TYPES.invalidInput || !Array.isArray(faults)) return failure;
  const more = await cardFaults(raw);
  return more.length === 0 ? failure : invalidInput([...(faults as string[]), ...more]);
}

async function cardFaults(raw: unknown): Promise<string[]> {
  if (typeof raw !== 'object' || raw === null || isUndecodable(raw)) return [];
  const { businessUnit = 'default', customerId, token } = raw as Readonly<Record<string, unknown>>;
  const unit = businessUnitSchema.safeParse(businessUnit);
  const customer = customerIdSchema.safeParse(customerId);
  const card = uuidSchema.safeParse(token);
  if (!unit.success || !customer.success) return [];
  const ids = { businessUnit: unit.data, customerId: customer.data };
  const found = await Promise.all([
    faultOf('customerId', read.getCustomer(ids)),
    ...(card.success ? [faultOf('token', read.getPaymentMethod({ ...ids, token: card.data }))] : []),
  ]);
  return found.flat();
}

async function faultOf(field: string, asked: Promise<unknown>): Promise<string[]> {
  try {
    await asked;
    return [];
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const certain: readonly unknown[] = [FAILURE_TYPES.notFound, FAILURE_TYPES.invalidInput];
    return cause instanceof ApplicationFailure && certain.includes(cause.type) ? [`${field}: ${cause.message}`] : [];
  }
}

/**
 * Merchant and callers are told before the run closes: a caller may have left while card and customer could not be looked up.
 * @throws the failure by which the subscription was refused before anything was billed
 */
export async function endRefused(flow: Billing, failure: Error): Promise<never> {
  // A second run says nothing of the subscription that the first one bills.
  const isSecond = failure instanceof ApplicationFailure && failure.type === FAILURE_TYPES.referenceConflict;
  // A reset may begin it after all, and that has an end of its own.
  if (!isSecond) tellOf(flow, 'subscription.ended', 'refused', { status: 'refused', reason: failure.message });
  show(flow, { status: 'refused', waitingFor: 'nothing' });
  for (const command of flow.queue.splice(0)) command.answer = { refusal: 'the subscription was refused' };
  await condition(() => allHandlersFinished() && isHandedOver(flow));
  throw failure;
}
