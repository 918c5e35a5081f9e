import type { z } from 'zod';
import { authorizeInputSchema } from './authorize.js';
import { listCardsInputSchema, removeCardInputSchema, storeCardInputSchema } from './cards.js';
import { attemptInputSchema, chargeInputSchema, creditInputSchema, resolvePendingInputSchema } from './charge.js';
import { fingerprint, type FingerprintParts } from './idempotency.js';
import {
  BILLING_TASK_QUEUE,
  cardWorkflowId,
  parkedEventWorkflowId,
  paymentActionsWorkflowId,
  PAYMENTS_TASK_QUEUE,
  paymentWorkflowId,
  resolveWorkflowId,
  riskWorkflowId,
  subscriptionWorkflowId,
  WORKFLOW_TYPES,
  type WorkflowType,
} from './names.js';
import { parkedEventInputSchema } from './parked-event.js';
import { paymentActionsInputSchema } from './payment-actions.js';
import { analyseRiskInputSchema } from './risk.js';
import type { SharedSchema } from './shared-schema.js';
import { jitterMs, type ParsedSubscriptionInput, subscriptionInputSchema } from './subscription.js';
import type { TransactionKind } from './records.js';

/** How a workflow type is started. */
export interface Flow<Type extends WorkflowType, Schema extends z.ZodType> {
  readonly type: Type;
  /** First words of its summary in Temporal UI. */
  readonly title: string;
  /** What a person calls the flow. */
  readonly name: string;
  readonly taskQueue: string;
  readonly schema: SharedSchema<Schema>;
  /** Prefix of its workflow ids. */
  readonly idPrefix: string;
  /** The one workflow id under which this input may run (money rule 1). */
  readonly workflowId: (input: z.output<Schema>) => string;
}

/** Identifies what an input requests. The same subject is the same request (money rule 2). */
export type Subject = Omit<FingerprintParts, 'type'>;

/** A flow that compares each request's fingerprint with its own. */
export interface RepeatableFlow<Type extends WorkflowType, Schema extends z.ZodType> extends Flow<Type, Schema> {
  readonly subject: (input: z.output<Schema>) => Subject;
  readonly fingerprint: (input: z.output<Schema>) => string;
}

/** A flow of one payment. */
export interface PaymentFlow<Type extends WorkflowType, Schema extends z.ZodType> extends RepeatableFlow<Type, Schema> {
  /** Its first operation. */
  readonly kind: (input: z.output<Schema>) => TransactionKind | 'risk-analysis';
}

/** Common to all flows that create a payment and move money with it. */
const MONEY = {
  taskQueue: PAYMENTS_TASK_QUEUE,
  idPrefix: paymentWorkflowId(''),
  workflowId: ({ reference }: { reference: string }) => paymentWorkflowId(reference),
  subject: paymentSubject,
};

const STORED_CARDS = {
  taskQueue: PAYMENTS_TASK_QUEUE,
  idPrefix: 'card-',
  workflowId: ({ customerId, commandId }: CardInput) => cardWorkflowId(customerId, commandId),
  subject: cardSubject,
};

/** One row per workflow type. The CLI looks for a reference under their prefixes in this order. */
export const FLOWS = {
  charge: paymentFlow({
    ...MONEY,
    type: WORKFLOW_TYPES.charge,
    title: 'Charge',
    name: 'Charge',
    schema: chargeInputSchema,
    kind: () => 'charge',
  }),
  authorizeAndCapture: paymentFlow({
    ...MONEY,
    type: WORKFLOW_TYPES.authorizeAndCapture,
    title: 'Authorize',
    name: 'Authorization',
    schema: authorizeInputSchema,
    kind: () => 'authorization',
  }),
  credit: paymentFlow({
    ...MONEY,
    type: WORKFLOW_TYPES.credit,
    title: 'Credit',
    name: 'Credit',
    schema: creditInputSchema,
    kind: () => 'credit',
  }),
  storeCard: paymentFlow({
    ...MONEY,
    type: WORKFLOW_TYPES.storeCard,
    title: 'Store a card, consent',
    name: 'Storing a card, consent',
    schema: storeCardInputSchema,
    kind: ({ consent }) => consent.by,
    // The customer has no id yet.
    subject: (input) => ({ ...paymentSubject(input), customerId: input.customer.customerReference }),
  }),
  paymentActions: paymentFlow({
    type: WORKFLOW_TYPES.paymentActions,
    title: 'Commands to payment',
    name: 'Commands to the payment',
    taskQueue: PAYMENTS_TASK_QUEUE,
    schema: paymentActionsInputSchema,
    idPrefix: paymentActionsWorkflowId(''),
    workflowId: ({ paymentId }) => paymentActionsWorkflowId(paymentId),
    kind: () => 'refund',
    subject: ({ paymentId, currency, businessUnit }) => ({ reference: paymentId, amount: 0, currency, businessUnit }),
  }),
  analyseRisk: paymentFlow({
    type: WORKFLOW_TYPES.analyseRisk,
    title: 'Analyse risk of',
    name: 'Risk analysis',
    taskQueue: PAYMENTS_TASK_QUEUE,
    schema: analyseRiskInputSchema,
    idPrefix: riskWorkflowId(''),
    workflowId: ({ reference }) => riskWorkflowId(reference),
    kind: () => 'risk-analysis',
    subject: paymentSubject,
  }),
  parkedEvent: {
    type: WORKFLOW_TYPES.parkedEvent,
    title: 'Event',
    name: 'Parked event',
    taskQueue: PAYMENTS_TASK_QUEUE,
    schema: parkedEventInputSchema,
    idPrefix: parkedEventWorkflowId(''),
    workflowId: ({ event }) => parkedEventWorkflowId(event.hash),
  } satisfies Flow<'parkedEvent', typeof parkedEventInputSchema.zod>,
  subscription: repeatableFlow({
    type: WORKFLOW_TYPES.subscription,
    title: 'Subscription',
    name: 'Subscription',
    taskQueue: BILLING_TASK_QUEUE,
    schema: subscriptionInputSchema,
    idPrefix: subscriptionWorkflowId(''),
    workflowId: ({ reference }) => subscriptionWorkflowId(reference),
    subject: subscriptionSubject,
  }),
  listCards: repeatableFlow({
    ...STORED_CARDS,
    type: WORKFLOW_TYPES.listCards,
    title: 'listCards of customer',
    name: 'List of cards',
    schema: listCardsInputSchema,
  }),
  removeCard: repeatableFlow({
    ...STORED_CARDS,
    type: WORKFLOW_TYPES.removeCard,
    title: 'removeCard of customer',
    name: 'Removal of a card',
    schema: removeCardInputSchema,
  }),
  resolvePending: paymentFlow({
    type: WORKFLOW_TYPES.resolvePending,
    title: 'Resolve',
    name: 'Foreign transaction',
    taskQueue: PAYMENTS_TASK_QUEUE,
    schema: resolvePendingInputSchema,
    idPrefix: resolveWorkflowId(''),
    workflowId: ({ transactionId }) => resolveWorkflowId(transactionId),
    kind: ({ kind }) => kind,
    subject: ({ transactionId, amount, currency, businessUnit }) => {
      return { reference: transactionId, amount, currency, businessUnit };
    },
  }),
};

/** A charge that a subscription starts for one of its periods. */
export const BILLING_ATTEMPT = { ...FLOWS.charge, schema: attemptInputSchema };

interface PaymentInput {
  reference: string;
  amount: number;
  currency: string;
  businessUnit: string;
  paymentMethod?: { token: string } | undefined;
  customerId?: string | undefined;
}

function paymentSubject(input: PaymentInput): Subject {
  const { reference, amount, currency, businessUnit, paymentMethod, customerId } = input;
  return { reference, amount, currency, businessUnit, token: paymentMethod?.token, customerId };
}

/** The input at start, without later changes by commands. Excludes the notification address and the statement text. */
function subscriptionSubject(input: ParsedSubscriptionInput): Subject {
  const { reference, amount, currency, businessUnit, token, customerId } = input;
  return { reference, amount: amount ?? 0, currency, businessUnit, token, customerId, plan: planOf(input) };
}

/** Never change this order, nor add anything to that of an earlier input: histories and memos hold its hash. */
function planOf(input: ParsedSubscriptionInput): readonly unknown[] {
  const { interval, anchor, timeZone, billAt, trialDays, periods, endsOn, jitter, missedPeriods, dunning } = input;
  const { billedThrough, amounts, metered } = input;
  const { retryDays, localHour, maxAttempts, onGivenUp } = dunning ?? {};
  const ends = [periods ?? null, endsOn ?? null];
  const retries = [retryDays ?? null, localHour ?? null, maxAttempts ?? null, onGivenUp ?? null];
  const when = [interval.every, interval.unit, anchor, timeZone, billAt, trialDays];
  return [
    ...when,
    ...ends,
    jitterMs(jitter),
    missedPeriods ?? null,
    ...retries,
    ...(billedThrough === undefined ? [] : [billedThrough]),
    // Told apart from `billedThrough`, which is a number or a text.
    ...(amounts === undefined ? [] : [amounts.map(({ fromPeriod, amount }) => [fromPeriod, amount])]),
    ...(metered === undefined ? [] : [metered]),
  ];
}

interface CardInput {
  customerId: string;
  commandId: string;
  businessUnit: string;
  token?: string;
}

/** Moves no money, so the amount is 0. */
function cardSubject({ commandId, businessUnit, token, customerId }: CardInput): Subject {
  return { reference: commandId, amount: 0, currency: '', businessUnit, token, customerId };
}

function repeatableFlow<Type extends WorkflowType, Schema extends z.ZodType>(
  row: Omit<RepeatableFlow<Type, Schema>, 'fingerprint'>,
): RepeatableFlow<Type, Schema> {
  return { ...row, fingerprint: (input) => fingerprint({ type: row.type, ...row.subject(input) }) };
}

function paymentFlow<Type extends WorkflowType, Schema extends z.ZodType>(
  row: Omit<PaymentFlow<Type, Schema>, 'fingerprint'>,
): PaymentFlow<Type, Schema> {
  return { ...repeatableFlow(row), kind: row.kind };
}
