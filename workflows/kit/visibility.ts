import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { cutAttribute } from '../../src/contract/cut-attribute.js';
import type { PaymentStatus, WaitingFor } from '../../src/contract/statuses.js';

const keys = {
  paymentStatus: defineSearchAttributeKey('PaymentStatus', SearchAttributeType.KEYWORD),
  waitingFor: defineSearchAttributeKey('WaitingFor', SearchAttributeType.KEYWORD),
  paymentId: defineSearchAttributeKey('PaymentId', SearchAttributeType.KEYWORD),
  businessUnit: defineSearchAttributeKey('BusinessUnit', SearchAttributeType.KEYWORD),
  provider: defineSearchAttributeKey('Provider', SearchAttributeType.KEYWORD),
  subCategory: defineSearchAttributeKey('SubCategory', SearchAttributeType.KEYWORD),
  needsOperator: defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL),
  dueAt: defineSearchAttributeKey('DueAt', SearchAttributeType.DATETIME),
  amountMinor: defineSearchAttributeKey('AmountMinor', SearchAttributeType.INT),
  currency: defineSearchAttributeKey('Currency', SearchAttributeType.KEYWORD),
};

/** The published deadline, for a flow that can't proceed; undefined if none is published. */
export function publishedDueAt(): Date | undefined {
  return workflowInfo().typedSearchAttributes.get(keys.dueAt);
}

type Update = Parameters<typeof upsertSearchAttributes>[0] extends infer T
  ? Extract<T, readonly unknown[]>[number]
  : never;

/** What a person sees of a flow of any kind. */
export interface Seen {
  status: PaymentStatus;
  waitingFor: WaitingFor;
  /** Epoch ms: since when it has this status. */
  since: number;
  /** Epoch ms when the present wait ends. */
  dueAt: number | undefined;
  /** One sentence. */
  needsOperator: string | undefined;
}

/** Given fields change, the others stay. */
export interface Change {
  status?: PaymentStatus;
  waitingFor?: WaitingFor;
  /** One sentence; null clears it. */
  needsOperator?: string | null;
  /** Epoch ms; null when nothing is awaited. */
  dueAt?: number | null;
}

/** Changes what a person sees of the flow. Only {@link publish} updates the search attributes. */
export function change(seen: Seen, { status, waitingFor, needsOperator, dueAt }: Change): void {
  if (status !== undefined && status !== seen.status) {
    seen.status = status;
    seen.since = Date.now();
  }
  if (waitingFor !== undefined) seen.waitingFor = waitingFor;
  if (needsOperator !== undefined) seen.needsOperator = needsOperator ?? undefined;
  if (dueAt !== undefined) seen.dueAt = dueAt ?? undefined;
}

/** What the search attributes show of a flow of any kind. */
export interface Visible extends Pick<Seen, 'status' | 'waitingFor' | 'needsOperator'> {
  /** undefined: it is of all units. */
  businessUnit?: string | undefined;
  paymentId?: string | undefined;
  provider?: string | undefined;
  currency?: string;
  amount?: number;
}

interface Extra {
  /** Epoch ms. */
  dueAt?: number;
  subCategory?: string;
}

/**
 * Writes the search attributes that changed; no other function writes those of a flow. `dueAt` is when the flow asks an
 * operator: a write at every poll would cost one billable action each.
 */
export function publish(flow: Visible, extra: Extra = {}): void {
  const updates = updatesOf(flow, extra);
  if (updates.length > 0) upsertSearchAttributes(updates);
}

/** What the next run starts with: free there, while a later write is a billable action. */
export function attributesOf(flow: Visible, extra: Extra) {
  return workflowInfo().typedSearchAttributes.updateCopy(updatesOf(flow, extra));
}

function updatesOf(flow: Visible, extra: Extra): Update[] {
  const present = workflowInfo().typedSearchAttributes;
  const updates: Update[] = [];
  const keyword = (key: typeof keys.paymentStatus, value: string | undefined): void => {
    if (value !== undefined && present.get(key) !== cutAttribute(value))
      updates.push({ key, value: cutAttribute(value) });
  };
  keyword(keys.paymentStatus, flow.status);
  keyword(keys.waitingFor, flow.waitingFor);
  keyword(keys.paymentId, flow.paymentId);
  keyword(keys.businessUnit, flow.businessUnit);
  keyword(keys.provider, flow.provider);
  keyword(keys.subCategory, extra.subCategory);
  keyword(keys.currency, flow.currency);
  if (flow.amount !== undefined && present.get(keys.amountMinor) !== flow.amount)
    updates.push({ key: keys.amountMinor, value: flow.amount });
  const needsOperator = flow.needsOperator !== undefined;
  if ((present.get(keys.needsOperator) ?? false) !== needsOperator) {
    updates.push({ key: keys.needsOperator, value: needsOperator });
  }
  const due = present.get(keys.dueAt);
  if (extra.dueAt === undefined) {
    if (due !== undefined) updates.push({ key: keys.dueAt, value: null });
  } else if (due?.getTime() !== extra.dueAt) updates.push({ key: keys.dueAt, value: new Date(extra.dueAt) });
  return updates;
}

/** For a flow that another flow starts: free at the start, while a later write is a billable action. */
export function startedAttributes(input: { amount: number; currency: string; businessUnit: string }) {
  return [
    { key: keys.paymentStatus, value: 'started' },
    { key: keys.waitingFor, value: 'provider' },
    { key: keys.businessUnit, value: cutAttribute(input.businessUnit) },
    { key: keys.currency, value: input.currency },
    { key: keys.amountMinor, value: input.amount },
  ];
}
