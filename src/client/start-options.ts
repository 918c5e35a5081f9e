import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';
import type { z } from 'zod';
import { faultsOf } from '../contract/fields.js';
import type { RepeatableFlow, Subject } from '../contract/flows.js';
import { MEMO_KEYS, type WorkflowType } from '../contract/names.js';
import type { SharedSchema } from '../contract/shared-schema.js';
import type { ParsedSubscriptionInput } from '../contract/subscription.js';
import { checkSubscription } from '../domain/check-subscription.js';
import { showMoney } from '../domain/money.js';
import { HoldfastError } from './errors.js';

/** Memo value of flows that this client started with reuse policy "reject duplicate". */
const STARTED_BY = 'holdfast-client';

export const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/** A flow and its input. */
export interface FlowRequest<Type extends WorkflowType = WorkflowType> {
  readonly type: Type;
  readonly title: string;
  readonly taskQueue: string;
  readonly workflowId: string;
  readonly fingerprint: string;
  readonly subject: Subject;
  readonly input: object;
}

/** @param input parsed */
export function makeRequest<Type extends WorkflowType, Schema extends z.ZodType<object>>(
  flow: RepeatableFlow<Type, Schema>,
  input: z.output<Schema>,
): FlowRequest<Type> {
  const { type, title, taskQueue } = flow;
  const workflowId = flow.workflowId(input);
  return {
    type,
    title,
    taskQueue,
    workflowId,
    fingerprint: flow.fingerprint(input),
    subject: flow.subject(input),
    input,
  };
}

/** Joins the running flow of this workflow id; after an ended flow, no second one is started (money rule 1). */
export function startOptions({ title, taskQueue, workflowId, fingerprint, subject, input }: FlowRequest) {
  return {
    workflowId,
    taskQueue,
    args: [input] as [object],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo: startMemo(fingerprint),
    typedSearchAttributes: startAttributes(subject),
    staticSummary: summaryOf(title, subject),
  } as const;
}

/** Set at the start because a later write is a billable Temporal action. */
export function startAttributes(input: {
  amount: number;
  currency: string;
  businessUnit: string;
}): SearchAttributePair[] {
  return [
    { key: keyword('PaymentStatus'), value: 'started' },
    { key: keyword('WaitingFor'), value: 'provider' },
    { key: keyword('BusinessUnit'), value: input.businessUnit },
    { key: keyword('Currency'), value: input.currency },
    { key: defineSearchAttributeKey('AmountMinor', SearchAttributeType.INT), value: input.amount },
  ];
}

export function startMemo(fingerprintOfInput: string): Record<string, string> {
  return { [MEMO_KEYS.fingerprint]: fingerprintOfInput, [MEMO_KEYS.startedBy]: STARTED_BY };
}

/** Title of the flow in Temporal UI, such as "Charge 10.95 USD, order-1001". */
function summaryOf(title: string, { amount, currency, reference }: Subject): string {
  return `${title} ${showMoney(amount, currency)}, ${reference}`;
}

/**
 * Refuses invalid input before any workflow starts and lists every fault.
 * @throws HoldfastError `InvalidInput`
 */
export function checkInput<Schema extends z.ZodType>(schema: SharedSchema<Schema>, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw invalid(faultsOf(parsed.error));
}

/** The input of a subscription, and the error if it is too late to start it. */
interface CheckedSubscriptionInput {
  input: ParsedSubscriptionInput;
  /** Set when the subscription can't be started any more. It can still be joined if it was started before. */
  late: HoldfastError | undefined;
}

/**
 * Checks the input of a subscription, including the faults that depend on the current date.
 * @throws HoldfastError `InvalidInput` for faults that do not depend on the date
 */
export function checkSubscriptionInput(input: unknown): CheckedSubscriptionInput {
  const checked = checkSubscription(input, Date.now());
  if ('input' in checked) return { input: checked.input, late: undefined };
  const fault = invalid(checked.faults);
  if (checked.late !== undefined) return { input: checked.late, late: fault };
  throw fault;
}

function invalid(faults: string[]): HoldfastError {
  return new HoldfastError('InvalidInput', `Nothing was started: ${faults.join('; ')}`, faults);
}
