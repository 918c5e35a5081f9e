import type { AuthorizeOutcome, ParsedAuthorizeInput } from '../contract/authorize.js';
import type { ParsedStoreCardInput, StoreCardOutcome } from '../contract/cards.js';
import type { ChargeOutcome, ParsedChargeInput } from '../contract/charge.js';
import type { CreditOutcome, ParsedCreditInput } from '../contract/credit.js';
import { fingerprint } from '../contract/fingerprint.js';
import type { WorkflowType } from '../contract/names.js';
import {
  BILLING_TASK_QUEUE,
  paymentWorkflowId,
  riskWorkflowId,
  subscriptionWorkflowId,
  WORKFLOW_TYPES,
} from '../contract/names.js';
import type { Outcome } from '../contract/outcomes.js';
import type { ParsedAnalyseRiskInput, RiskOutcome } from '../contract/risk.js';
import type { ParsedSubscriptionInput } from '../contract/subscription.js';
import type { SubscriptionOutcome } from '../contract/subscription-outcome.js';
import { subscriptionFingerprint } from '../contract/subscription-terms.js';

/** What every input of a flow that creates a payment has. */
interface PaymentFlowInput {
  reference: string;
  amount: number;
  currency: string;
  businessUnit: string;
  paymentMethod?: { token: string } | undefined;
  customerId?: string | undefined;
  /** `storeCard` only, whose customer has no id yet. */
  customer?: { customerReference: string } | undefined;
}

/** What a flow can answer. */
export type Answerable = Outcome | SubscriptionOutcome;

/** One flow as the client starts it and asks it. `Answer` says what it can answer. */
export interface FlowSpec<Answer extends Answerable> {
  readonly type: WorkflowType;
  readonly workflowId: string;
  readonly taskQueue?: string;
  readonly input: PaymentFlowInput;
  readonly fingerprint: string;
  /** For the title in Temporal UI. */
  readonly what: string;
  /** Never set. */
  readonly answer?: Answer;
}

function spec<Answer extends Outcome>(
  type: WorkflowType,
  what: string,
  input: PaymentFlowInput,
  workflowId = paymentWorkflowId(input.reference),
): FlowSpec<Answer> {
  return { type, workflowId, input, what, fingerprint: flowFingerprint(type, input) };
}

export function flowFingerprint(type: WorkflowType, input: PaymentFlowInput): string {
  const { reference, amount, currency, businessUnit, paymentMethod, customer } = input;
  const token = paymentMethod?.token;
  const customerId = input.customerId ?? customer?.customerReference;
  return fingerprint({ type, reference, amount, currency, businessUnit, token, customerId });
}

export function chargeSpec(input: ParsedChargeInput): FlowSpec<ChargeOutcome> {
  return spec(WORKFLOW_TYPES.charge, 'Charge', input);
}

export function authorizeSpec(input: ParsedAuthorizeInput): FlowSpec<AuthorizeOutcome> {
  return spec(WORKFLOW_TYPES.authorizeAndCapture, 'Authorize', input);
}

export function creditSpec(input: ParsedCreditInput): FlowSpec<CreditOutcome> {
  return spec(WORKFLOW_TYPES.credit, 'Credit', input);
}

export function storeCardSpec(input: ParsedStoreCardInput): FlowSpec<StoreCardOutcome> {
  return spec(WORKFLOW_TYPES.storeCard, 'Store a card, consent', input);
}

export function riskSpec(input: ParsedAnalyseRiskInput): FlowSpec<RiskOutcome> {
  return spec(WORKFLOW_TYPES.analyseRisk, 'Analyse risk of', input, riskWorkflowId(input.reference));
}

export function subscriptionSpec(input: ParsedSubscriptionInput): FlowSpec<SubscriptionOutcome> {
  const type = WORKFLOW_TYPES.subscription;
  return {
    type,
    workflowId: subscriptionWorkflowId(input.reference),
    taskQueue: BILLING_TASK_QUEUE,
    input,
    what: 'Subscription',
    fingerprint: subscriptionFingerprint(input),
  };
}

/** Input of the two calls about stored cards. */
export interface CardInput {
  customerId: string;
  commandId: string;
  businessUnit: string;
  token?: string;
}

/** No money is in it. */
export function cardFingerprint(type: 'listCards' | 'removeCard', input: CardInput): string {
  const { customerId, commandId: reference, businessUnit, token } = input;
  return fingerprint({ type, reference, amount: 0, currency: '', businessUnit, token, customerId });
}
