import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { invalidRequest, resourceConflict } from './api-error.js';
import { reconciliationIdsOf } from './events.js';
import { findKey } from './idempotency.js';
import { chosenRiskResult, RISK_STATUS, riskDecision, riskProviderData } from './mock-provider.js';
import {
  unpricedItems,
  detailsSchema,
  cardNumberSchema,
  expirationDate,
  expirationSchema,
  resolvePaymentMethod,
  tokenizedMethod,
} from './payment-method.js';
import type { JsonObject, Payment, ResultStatus, Transaction, TransactionResult } from './records.js';
import { replayed } from './replay.js';
import { keyUse, parseBody, paymentOfPath, type Answer, type Call } from './route.js';
import { applyTransaction, repeated } from './settlement.js';
import { knownToken, usableToken } from './tokens.js';
import { KINDS } from './transaction-kinds.js';
import { answerAndRemember, transactionToAskAgain } from './transactions.js';
import { perVersion } from './versions.js';

const text = z.string().max(1_000).optional();
/** The service accepts these four fields only. */
const providerDetails = z.strictObject({
  product_desc_extra1: text,
  product_desc_extra2: text,
  product_desc_extra3: text,
  payer_birthday: z
    .string()
    .regex(/^\d{4}\/(0[1-9]|1[0-2])\/(0[1-9]|[12]\d|3[01])$/, 'must have the form yyyy/mm/dd')
    .optional(),
});

export const riskAnalysisSchema = perVersion(() =>
  z.object({
    transaction_type: z.string().min(1).max(100).optional(),
    payment_method: riskMethodSchema.optional(),
    session_id: text,
    device_id: text,
    merchant: z
      .looseObject({
        mcc: z
          .string()
          .regex(/^\d{4}$/, 'must have 4 digits')
          .optional(),
      })
      .optional(),
    acquirer: z.looseObject({}).optional(),
    installments: z.looseObject({}).optional(),
    authorization_code: text,
    cvv_verification_code: text,
    three_d_secure_authentication_status: text,
    additional_details: detailsSchema.optional(),
    provider_specific_data: z
      .record(
        z.string().regex(/_risk$/, 'must end in _risk'),
        z.looseObject({ additional_details: providerDetails.optional() }),
      )
      .optional(),
  }),
);

/** Analyses the payment's risk. The payment does not change: the merchant acts on the decision. */
export function createRiskAnalysis(call: Call): { answer: Answer; id: string } {
  const request = parseBody(call, riskAnalysisSchema(call.rules));
  const { sandbox, unit } = call;
  const remembered = findKey(sandbox, keyUse(call));
  const again = remembered && transactionToAskAgain(call, 'risk-analysis', remembered);
  const replay = again === undefined ? remembered : undefined;
  const checkFirst = unit.profile.state_checks === 'before_key_lookup';
  if (replay && !checkFirst) return { answer: replayed(call, replay), id: replay.resourceId };

  const payment = paymentOfPath(call, 'unnamed');
  checkState(payment);
  // A repeated analysis already has its payment method, whose token may be used up by now.
  const method = again === undefined && request.payment_method && riskMethod(call, request.payment_method);
  if (replay) return { answer: replayed(call, replay), id: replay.resourceId };

  const result = decide(call, payment);
  if (again !== undefined) {
    const providerData = riskProviderData(result, again.providerData);
    const analysis = { ...repeated(again), result, providerData };
    applyTransaction(sandbox, 'update', unit, analysis);
    return { answer: answerAndRemember(call, analysis), id: analysis.id };
  }
  const { payment_method: _kept, additional_details: details, provider_specific_data: data, ...echo } = request;
  const transaction: Transaction = {
    ...method,
    id: randomUUID(),
    kind: 'risk-analysis',
    paymentId: payment.id,
    appId: unit.appId,
    env: call.env,
    created: sandbox.clock.now(),
    amount: payment.content.amount,
    currency: payment.content.currency,
    trigger: 'succeed',
    result,
    providerData: riskProviderData(result),
    requestId: call.requestId,
    paymentStatusBefore: payment.status,
    ...(call.idempotencyKey !== undefined && { idempotencyKey: call.idempotencyKey }),
    ...(details && { additionalDetails: details }),
    ...(call.clientIpAddress !== undefined && { ipAddress: call.clientIpAddress }),
    // The answer repeats it without the enclosing provider key.
    echo: { ...echo, provider_specific_data: data && Object.values(data)[0] } as JsonObject,
  };
  applyTransaction(sandbox, 'create', unit, transaction);
  return { answer: answerAndRemember(call, transaction), id: transaction.id };
}

function checkState(payment: Payment): void {
  if (!KINDS['risk-analysis'].allowedFrom.includes(payment.status)) {
    throw resourceConflict('There was conflict with payment resource current state.');
  }
  const unpriced = unpricedItems(payment.content).map((index) => `order.line_items.${index}.unit_price: is needed`);
  if (unpriced.length > 0) throw invalidRequest(unpriced.slice(0, 20).join('; '));
}

/** Returns the result that the payment's addresses trigger, unless a planted fault decides. */
function decide({ sandbox, path }: Call, payment: Payment): TransactionResult {
  const reconciliationIds = () => reconciliationIdsOf(sandbox, payment);
  const fault = sandbox.faults.forResult({ method: 'POST', path, reconciliationIds });
  if (fault === undefined) return { status: RISK_STATUS[riskDecision(payment.content)] };
  return {
    ...chosenRiskResult(fault.status as ResultStatus, fault.category, fault.sub_category),
    ...(fault.shown_as !== undefined && { shownAs: fault.shown_as }),
  };
}

/** A payment method to be analysed. It need not be able to pay, so any part of a card is accepted. */
const riskMethodSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tokenized'), token: z.string().min(1) }),
  z.object({
    type: z.literal('untokenized'),
    source_type: z.enum(['credit_card', 'credit card']),
    card_number: cardNumberSchema.optional(),
    bin_number: z
      .string()
      .regex(/^\d{4,8}$/, 'must have 4 to 8 digits')
      .optional(),
    last_4_digits: z
      .string()
      .regex(/^\d{4}$/, 'must have 4 digits')
      .optional(),
    holder_name: z.string().min(1).optional(),
    expiration_date: expirationSchema.optional(),
  }),
]);

/** Returns what an analysis keeps of its payment method. It does not use up the token. Throws the documented 400s. */
function riskMethod(
  call: Call,
  method: z.infer<typeof riskMethodSchema>,
): Pick<Transaction, 'paymentMethod' | 'paymentMethodDetails' | 'tokenId'> {
  if (method.type === 'tokenized') {
    const tokenOf = call.unit.profile.reading === 'interface' ? knownToken : usableToken;
    return tokenizedMethod(tokenOf(call.sandbox, method.token, call.unit, call.env));
  }
  const { card_number: number, holder_name: holder, ...rest } = method;
  if (number !== undefined) {
    const whole = { ...rest, card_number: number, holder_name: holder ?? '' };
    const { trigger: _none, ...kept } = resolvePaymentMethod(call, whole);
    return kept;
  }
  const expires = expirationDate(method.expiration_date);
  return {
    paymentMethod: {
      created: String(call.sandbox.clock.now()),
      ...rest,
      source_type: 'credit_card',
      ...(holder !== undefined && { holder_name: holder }),
      ...(expires !== undefined && { expiration_date: expires }),
    },
  };
}
