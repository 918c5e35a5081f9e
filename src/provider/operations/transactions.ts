import type { z } from 'zod';
import { providerFailures } from '../failures.js';
import { riskAnalysisRequestSchema } from '../requests/risk-analyses.js';
import {
  authorizationRequestSchema,
  captureRequestSchema,
  chargeRequestSchema,
  creditRequestSchema,
  refundRequestSchema,
  voidRequestSchema,
} from '../requests/transactions.js';
import { riskAnalysisListSchema, riskAnalysisSchema } from '../responses/risk-analyses.js';
import { transactionListSchema, transactionSchema } from '../responses/transactions.js';
import type { Transaction } from '../responses/transactions.js';
import type { ApiVersion } from '../versions.js';
import { list, operation, read } from './operation.js';
import type { Operation } from './operation.js';

/** Making one asks the provider, and depends on the state of the payment. */
function create<const Path extends string, Request>(
  path: Path,
  request: (version: ApiVersion) => z.ZodType<unknown, Request>,
  takesClientIp = false,
): Operation<Path, Request, Transaction> {
  return operation<Path, Request, Transaction>({
    method: 'POST',
    path,
    takesClientIp,
    request,
    response: transactionSchema,
    failures: providerFailures,
  });
}

export const TRANSACTION_OPERATIONS = {
  createAuthorization: create('/payments/{paymentId}/authorizations', authorizationRequestSchema, true),
  getAuthorization: read(
    '/payments/{paymentId}/authorizations/{authorizationId}',
    'authorizationId',
    transactionSchema,
  ),
  listAuthorizations: list('/payments/{paymentId}/authorizations', transactionListSchema),

  createCharge: create('/payments/{paymentId}/charges', chargeRequestSchema, true),
  getCharge: read('/payments/{paymentId}/charges/{chargeId}', 'chargeId', transactionSchema),
  listCharges: list('/payments/{paymentId}/charges', transactionListSchema),

  createCapture: create('/payments/{paymentId}/captures', captureRequestSchema),
  getCapture: read('/payments/{paymentId}/captures/{captureId}', 'captureId', transactionSchema),
  listCaptures: list('/payments/{paymentId}/captures', transactionListSchema),

  createRefund: create('/payments/{paymentId}/refunds', refundRequestSchema),
  getRefund: read('/payments/{paymentId}/refunds/{refundId}', 'refundId', transactionSchema),
  listRefunds: list('/payments/{paymentId}/refunds', transactionListSchema),

  createVoid: create('/payments/{paymentId}/voids', voidRequestSchema),
  getVoid: read('/payments/{paymentId}/voids/{voidId}', 'voidId', transactionSchema),
  listVoids: list('/payments/{paymentId}/voids', transactionListSchema),

  createCredit: create('/payments/{paymentId}/credits', creditRequestSchema),
  getCredit: read('/payments/{paymentId}/credits/{creditId}', 'creditId', transactionSchema),
  listCredits: list('/payments/{paymentId}/credits', transactionListSchema),

  createRiskAnalysis: operation({
    method: 'POST',
    path: '/payments/{paymentId}/risk-analyses',
    pays: false,
    takesClientIp: true,
    request: riskAnalysisRequestSchema,
    response: riskAnalysisSchema,
    failures: providerFailures,
  }),
  getRiskAnalysis: read('/payments/{paymentId}/risk-analyses/{riskAnalysisId}', 'riskAnalysisId', riskAnalysisSchema),
  listRiskAnalyses: list('/payments/{paymentId}/risk-analyses', riskAnalysisListSchema),
} as const;
