import { z } from 'zod';
import { invalidRequest } from './api-error.js';
import { amountOutcome } from './mock-provider.js';
import { detailsSchema } from './payment-method.js';
import type { MockOutcome, Payment, Transaction, TransactionKind } from './records.js';
import { parseBody, type Call } from './route.js';
import type { Drafting } from './transactions.js';
import { perVersion } from './versions.js';
import { amountSchema, positiveMinorUnits } from './wire-fields.js';

const loose = z.looseObject({}).optional();
const reconciliationId = z.string().max(255).optional();

export const captureSchema = perVersion((rules) =>
  z.object({
    amount: amountSchema(rules).optional(),
    reconciliation_id: reconciliationId,
    level_2_3: loose,
    provider_specific_data: loose,
    additional_details: detailsSchema.optional(),
  }),
);
export const refundSchema = perVersion((rules) =>
  z.object({
    amount: amountSchema(rules).optional(),
    reconciliation_id: reconciliationId,
    capture_id: z.string().min(1).max(100).optional(),
    reason: z.string().max(1_000).optional(),
    additional_details: detailsSchema.optional(),
  }),
);
export const voidSchema = perVersion(() =>
  z.object({ provider_specific_data: loose, additional_details: detailsSchema.optional() }),
);

/**
 * Parses the body of a capture; the returned function does the checks that need state. So do the two below. A repeated one
 * keeps its amount, whatever the body names, and what has happened since decides its outcome.
 */
export function capture(call: Call): Drafting {
  const request = withoutIgnoredAmount(call, parseBody(call, captureSchema(call.rules)));
  return (payment, others, again) => {
    const before = standing(others, 'capture');
    const outcomeOf = (amount: number): MockOutcome => {
      const tooMuch = sum(before) + amount > payment.content.amount;
      const expired = payment.holdUntil !== undefined && payment.holdUntil <= call.sandbox.clock.now();
      return expired ? 'failed' : outcome(call, tooMuch, 'capture', amount);
    };
    if (again !== undefined) return { amount: again.amount, trigger: outcomeOf(again.amount) };
    if (request.amount === undefined && before.length > 0 && call.unit.profile.sums !== 'ignored') {
      throw invalidRequest('amount: is needed from the second capture on');
    }
    const amount = amountOf(request, payment);
    return { amount, trigger: outcomeOf(amount), ...kept(request) };
  };
}

export function refund(call: Call): Drafting {
  const request = withoutIgnoredAmount(call, parseBody(call, refundSchema(call.rules)));
  return (payment, others, again) => {
    const taken = [...succeeded(others, 'capture'), ...succeeded(others, 'charge')];
    const before = standing(others, 'refund');
    const outcomeOf = (amount: number, source: Transaction | undefined): MockOutcome => {
      const ofSource = before.filter((one) => one.captureId === source?.id);
      const tooMuch =
        sum(before) + amount > sum(taken) || (source !== undefined && sum(ofSource) + amount > source.amount);
      return outcome(call, tooMuch, 'refund', amount);
    };
    if (again !== undefined) {
      const source = taken.find(({ id }) => id === again.captureId);
      return { amount: again.amount, trigger: outcomeOf(again.amount, source) };
    }
    const { capture_id: captureId } = request;
    const source = captureId === undefined ? undefined : taken.find(({ id }) => id === captureId.toLowerCase());
    if (captureId !== undefined && source === undefined) {
      throw invalidRequest('capture_id: names no successful capture of this payment');
    }
    if (captureId === undefined && taken.length > 1) {
      throw invalidRequest('capture_id: is needed when there are several captures');
    }
    if (request.amount === undefined && before.length > 0 && call.unit.profile.sums !== 'ignored') {
      throw invalidRequest('amount: is needed from the second refund on');
    }
    const amount = request.amount === undefined && source !== undefined ? source.amount : amountOf(request, payment);
    return {
      amount,
      trigger: outcomeOf(amount, source),
      ...kept(request),
      ...(source !== undefined && { captureId: source.id }),
      ...(request.reason !== undefined && { reason: request.reason }),
    };
  };
}

/** Voids the part that is not captured: the whole amount, except after a partial capture. */
export function voiding(call: Call): Drafting {
  const request = parseBody(call, voidSchema(call.rules));
  return ({ content }, others, again) => {
    const captured = succeeded(others, 'capture').reduce((sum, { amount }) => sum + amount, 0);
    const amount = Math.max(0, content.amount - captured);
    return { amount, trigger: amountOutcome('void', amount), ...(again === undefined && kept(request)) };
  };
}

function amountOf({ amount }: { amount?: Parameters<typeof positiveMinorUnits>[0] | undefined }, { content }: Payment) {
  return amount === undefined ? content.amount : positiveMinorUnits(amount, content.currency, 'amount');
}

/** With `sums: 'ignored'`, drops the amount of a body without checking it. */
function withoutIgnoredAmount<Request extends { amount?: unknown }>({ unit }: Call, request: Request): Request {
  if (unit.profile.sums !== 'ignored') return request;
  const { amount: _ignored, ...rest } = request;
  return rest as Request;
}

function outcome({ unit }: Call, tooMuch: boolean, kind: 'capture' | 'refund', amount: number): MockOutcome {
  return tooMuch && unit.profile.sums === 'strict' ? 'refused' : amountOutcome(kind, amount);
}

function kept(request: {
  reconciliation_id?: string | undefined;
  additional_details?: Record<string, string> | undefined;
}): Pick<Transaction, 'reconciliationId' | 'additionalDetails'> {
  return {
    ...(request.reconciliation_id !== undefined && { reconciliationId: request.reconciliation_id }),
    ...(request.additional_details && { additionalDetails: request.additional_details }),
  };
}

function standing(others: readonly Transaction[], kind: TransactionKind): Transaction[] {
  return others.filter((one) => one.kind === kind && one.result.status !== 'Failed');
}

function succeeded(others: readonly Transaction[], kind: TransactionKind): Transaction[] {
  return others.filter((one) => one.kind === kind && one.result.status === 'Succeed');
}

function sum(transactions: readonly Transaction[]): number {
  return transactions.reduce((total, { amount }) => total + amount, 0);
}
