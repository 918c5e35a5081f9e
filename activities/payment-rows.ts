import { cancellationSignal } from '@temporalio/activity';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowFacts } from '../src/contract/reconcile.js';
import { FAILURE_TYPES } from '../src/contract/names.js';
import type { TransactionKind } from '../src/contract/records.js';
import type { Row } from '../src/domain/reconcile/match.js';
import type { Answer } from '../src/domain/reconcile/reconcile.js';
import { type Payment, type ProviderClient, ProviderError, type Transaction } from '../src/provider/index.js';
import { type ActivityDeps, readOptions } from './read-call.js';

const LISTS = {
  authorizations: ['authorization', 'listAuthorizations'],
  charges: ['charge', 'listCharges'],
  captures: ['capture', 'listCaptures'],
  refunds: ['refund', 'listRefunds'],
  voids: ['void', 'listVoids'],
  credits: ['credit', 'listCredits'],
} as const satisfies Record<string, [TransactionKind, keyof ProviderClient]>;
type ListName = keyof typeof LISTS;
const NAMES = Object.keys(LISTS) as ListName[];

const TRIES = 3;
const RETRY_MS = 1_000;
/** A `Retry-After` of an hour would use up the time for all others. */
const LONGEST_WAIT_MS = 60_000;

/**
 * All transactions of a payment as the service has them: one read of the payment with all that belongs to it, and the
 * list of each kind that this leaves open. A payment with a risk analysis was made under the unit's risk unit.
 */
export async function rowsOfPayment(deps: ActivityDeps, paymentId: string, flow: FlowFacts): Promise<Answer> {
  const { businessUnit = 'default', currency } = flow;
  const terms = deps.units?.get(businessUnit);
  const units = [...new Set([businessUnit, terms?.riskUnit ?? businessUnit])];
  let answer: Answer = { why: `business unit "${businessUnit}" is not configured for this worker`, isFinal: false };
  for (const unit of units) {
    const provider = deps.providers.get(unit);
    if (provider === undefined) continue;
    if (deps.units?.get(unit)?.onlyNamedReads === true)
      return { why: `the service of "${unit}" offers no lists`, isFinal: true };
    try {
      return { rows: await withRetries(() => readRows(provider, paymentId, currency)) };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const isFinal = error.failureType === FAILURE_TYPES.notFound;
      answer = { why: error.message, isFinal, isAbsent: isFinal };
      if (!isFinal) break;
    }
  }
  return answer;
}

async function withRetries<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ProviderError) || attempt === TRIES) throw error;
      const { failureType, retryAfterMs = RETRY_MS * attempt } = error;
      if (failureType !== FAILURE_TYPES.providerUnavailable && failureType !== FAILURE_TYPES.rateLimited) throw error;
      await sleep(Math.min(retryAfterMs, LONGEST_WAIT_MS), undefined, { signal: cancellationSignal() });
    }
  }
}

async function readRows(provider: ProviderClient, paymentId: string, currency: string | undefined): Promise<Row[]> {
  const options = readOptions(currency);
  const { data: payment } = await provider.getPayment(paymentId, { ...options, expand: NAMES });
  const rows: Row[] = [];
  for (const name of NAMES) {
    const [kind, list] = LISTS[name];
    const shown = whole(payment, name) ?? (await provider[list](paymentId, options)).data;
    rows.push(...shown.map((transaction) => rowOf(transaction, kind, payment)));
  }
  return rows;
}

/** undefined: the answer does not have this kind, or only links. */
function whole({ relatedResources }: Payment, name: ListName): Transaction[] | undefined {
  const shown = relatedResources?.[name];
  if (shown === undefined) return undefined;
  const all = shown.filter((each): each is Transaction => 'id' in each);
  return all.length === shown.length ? all : undefined;
}

function rowOf(transaction: Transaction, kind: TransactionKind, payment: Payment): Row {
  const { id, status, amount, currency = payment.currency, reconciliationId, created } = transaction;
  const at = Number(created);
  return {
    kind,
    status,
    amount,
    currency,
    reconciliationId,
    paymentId: payment.id,
    paymentStatus: payment.status,
    transactionId: id,
    created: created !== undefined && Number.isFinite(at) ? at : undefined,
    settled: undefined,
  };
}
