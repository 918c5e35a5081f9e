import { cardTransaction, cardTransactionSchema } from '../card-transactions.js';
import { capture, captureSchema, refund, refundSchema, voiding, voidSchema } from '../follow-ups.js';
import type { MoneyKind } from '../records.js';
import { createRiskAnalysis, riskAnalysisSchema } from '../risk-analyses.js';
import type { Call, Route, Answer } from '../route.js';
import { KINDS } from '../transaction-kinds.js';
import { createTransaction, getTransaction, listTransactions, type Drafting } from '../transactions.js';

interface Row {
  kind: MoneyKind;
  /** Name of the resource in the names of its operations. */
  name: string;
  request: NonNullable<Route['request']>;
  bodyOptional: boolean;
  drafting: (call: Call) => Drafting;
}

const CARD = { request: cardTransactionSchema, bodyOptional: false };

const ROWS: readonly Row[] = [
  {
    ...CARD,
    kind: 'authorization',
    name: 'Authorization',
    drafting: (call) => cardTransaction(call, 'authorization'),
  },
  { ...CARD, kind: 'charge', name: 'Charge', drafting: (call) => cardTransaction(call, 'charge') },
  { ...CARD, kind: 'credit', name: 'Credit', drafting: (call) => cardTransaction(call, 'credit') },
  { kind: 'capture', name: 'Capture', request: captureSchema, bodyOptional: true, drafting: capture },
  { kind: 'refund', name: 'Refund', request: refundSchema, bodyOptional: true, drafting: refund },
  { kind: 'void', name: 'Void', request: voidSchema, bodyOptional: true, drafting: voiding },
];

export const transactionRoutes: readonly Route[] = ROWS.flatMap(routesOf);

function routesOf({ kind, name, request, bodyOptional, drafting }: Row): Route[] {
  const path = `/payments/:payment_id/${KINDS[kind].plural}`;
  return [
    {
      operation: `create${name}`,
      method: 'POST',
      path,
      credentials: 'private',
      request,
      bodyOptional,
      // No such answer is documented for credits.
      asksProvider: kind !== 'credit',
      success: 201,
      handle: (call) => createTransaction(call, kind, drafting(call)),
    },
    {
      operation: `list${name}s`,
      method: 'GET',
      path,
      unnamed: 404,
      credentials: 'private',
      success: 200,
      handle: (call) => listTransactions(call, kind),
    },
    {
      operation: `get${name}`,
      method: 'GET',
      path: `${path}/:transaction_id`,
      ...(kind !== 'charge' && { unnamed: 405 as const }),
      credentials: 'private',
      success: 200,
      handle: (call) => getTransaction(call, kind),
    },
  ];
}

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
