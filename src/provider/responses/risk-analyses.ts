import { z } from 'zod';
import { note, numberNote } from './fields.js';
import { providerDataFields, readTransaction, transactionFields } from './transactions.js';
import type { Transaction } from './transactions.js';

export const RISK_DECISIONS = ['approve', 'review', 'decline'] as const;
export type RiskDecision = (typeof RISK_DECISIONS)[number];

/** `status` follows the decision: `Succeed` for `approve`, `Pending` for `review`, `Failed` for `decline`. */
export interface RiskAnalysis extends Transaction {
  decision?: RiskDecision;
  score?: number;
  transactionType?: string;
}

/** Strict about the decision: one that is not known must never be read as none. */
export const riskAnalysisSchema: z.ZodType<RiskAnalysis> = z
  .object({
    ...transactionFields,
    transaction_type: note,
    provider_data: z
      .looseObject({
        ...providerDataFields,
        risk_analyses_result: z.object({ decision: z.enum(RISK_DECISIONS).nullish(), score: numberNote }).nullish(),
      })
      .nullish()
      .transform((data) => data ?? undefined),
  })
  .transform((wire) => {
    const { decision, score } = wire.provider_data?.risk_analyses_result ?? {};
    return {
      ...readTransaction(wire),
      ...(decision === undefined || decision === null ? {} : { decision }),
      ...(score === undefined ? {} : { score }),
      ...(wire.transaction_type === undefined ? {} : { transactionType: wire.transaction_type }),
    };
  });

export const riskAnalysisListSchema: z.ZodType<RiskAnalysis[]> = z.array(riskAnalysisSchema);
