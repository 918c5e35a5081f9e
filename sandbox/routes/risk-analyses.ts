import { createRiskAnalysis, riskAnalysisSchema } from '../risk-analyses.js';
import type { Answer, Call, Route } from '../route.js';
import { getTransaction, listTransactions } from '../transactions.js';

const ALL = {
  path: '/payments/:payment_id/risk-analyses',
  credentials: 'private',
  since: '1.3.0',
  sinceObserved: true,
} as const;

export const riskAnalysisRoutes: readonly Route[] = [
  {
    ...ALL,
    operation: 'createRiskAnalysis',
    method: 'POST',
    request: riskAnalysisSchema,
    bodyOptional: true,
    success: 201,
    handle: (call) => {
      const { answer, id } = createRiskAnalysis(call);
      return withSelf(call, answer, `/${id}`);
    },
  },
  {
    ...ALL,
    operation: 'listRiskAnalyses',
    unnamed: 404,
    method: 'GET',
    success: 200,
    handle: (call) => withSelf(call, listTransactions(call, 'risk-analysis')),
  },
  {
    ...ALL,
    path: `${ALL.path}/:transaction_id`,
    operation: 'getRiskAnalysis',
    unnamed: 405,
    method: 'GET',
    success: 200,
    handle: (call) => withSelf(call, getTransaction(call, 'risk-analysis')),
  },
];

/** Answers with these resources carry the resource's URL in a header. */
function withSelf(call: Call, answer: Answer, rest = ''): Answer {
  return { ...answer, headers: { self: `${call.sandbox.baseUrl}${call.path}${rest}` } };
}
