import { randomUUID } from 'node:crypto';
import type { JsonObject, PaymentContent, ResultStatus } from './records.js';

export type RiskDecision = 'approve' | 'review' | 'decline';

const TRIGGERS: ReadonlyMap<unknown, RiskDecision> = new Map([
  ['reject-hub@email.com', 'decline'],
  ['manual-review-hub@email.com', 'review'],
]);

export const RISK_STATUS = { approve: 'Succeed', review: 'Pending', decline: 'Failed' } as const;
const DECISIONS: Readonly<Record<ResultStatus, RiskDecision>> = {
  Succeed: 'approve',
  Pending: 'review',
  Failed: 'decline',
};
const SCORES: Readonly<Record<RiskDecision, number>> = { approve: 10, review: 55, decline: 90 };
const CODES: Readonly<Record<RiskDecision, string>> = { approve: '0', review: '1', decline: '102' };
const DESCRIPTIONS: Readonly<Record<RiskDecision, string>> = {
  approve: 'Approved.',
  review: 'In review.',
  decline: 'Declined.',
};

/** The mock risk provider's decision, by the e-mail address of the payment's billing or shipping address. */
export function riskDecision({ billing_address: billing, shipping_address: shipping }: PaymentContent): RiskDecision {
  return TRIGGERS.get(billing?.['email']) ?? TRIGGERS.get(shipping?.['email']) ?? 'approve';
}

/** The `provider_data` of a risk analysis. A later decision keeps score and id of the first answer. */
export function riskProviderData(status: ResultStatus, before?: JsonObject): JsonObject {
  const decision = DECISIONS[status];
  const first = before?.['risk_analyses_result'] as { score: number } | undefined;
  const score = first?.score ?? SCORES[decision];
  const externalId = (before?.['external_id'] as string | undefined) ?? randomUUID();
  return {
    provider_name: 'PayU-Risk',
    response_code: CODES[decision],
    description: DESCRIPTIONS[decision],
    raw_response: JSON.stringify({ id: externalId, score, decision }),
    external_id: externalId,
    additional_information: {},
    risk_analyses_result: { score, decision },
  };
}
