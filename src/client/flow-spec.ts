import type { AuthorizeOutcome, ParsedAuthorizeInput } from '../contract/authorize.js';
import type { ChargeOutcome, ParsedChargeInput } from '../contract/charge.js';
import type { CreditOutcome, ParsedCreditInput } from '../contract/credit.js';
import { fingerprint } from '../contract/fingerprint.js';
import type { WorkflowType } from '../contract/names.js';
import { paymentWorkflowId, riskWorkflowId, WORKFLOW_TYPES } from '../contract/names.js';
import type { Outcome } from '../contract/outcomes.js';
import type { ParsedAnalyseRiskInput, RiskOutcome } from '../contract/risk.js';

/** What every input of a flow that creates a payment has. */
interface PaymentFlowInput {
  reference: string;
  amount: number;
  currency: string;
  businessUnit: string;
  paymentMethod?: { token: string } | undefined;
  customerId?: string | undefined;
}

/** One flow as the client starts it and asks it. `Answer` says what it can answer. */
export interface FlowSpec<Answer extends Outcome> {
  readonly type: WorkflowType;
  readonly workflowId: string;
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
  const { reference, amount, currency, businessUnit, paymentMethod, customerId } = input;
  return fingerprint({ type, reference, amount, currency, businessUnit, token: paymentMethod?.token, customerId });
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

export function riskSpec(input: ParsedAnalyseRiskInput): FlowSpec<RiskOutcome> {
  return spec(WORKFLOW_TYPES.analyseRisk, 'Analyse risk of', input, riskWorkflowId(input.reference));
}
