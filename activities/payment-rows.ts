import { cancellationSignal } from '@temporalio/activity';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowFacts, ReconcilePort } from '../src/contract/reconcile.js';
import { FAILURE_TYPES } from '../src/contract/names.js';
import type { TransactionKind } from '../src/contract/records.js';
import type { Row } from '../src/domain/reconcile/match.js';
import type { Answer } from '../src/domain/reconcile/reconcile.js';
import { type Payment, type ProviderClient, ProviderError, type Transaction } from '../src/provider/index.js';
import { type ActivityDeps, offersNoList, readOptions, saysNoPayment } from './read-call.js';

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
export async function rowsOfPayment(deps: Deps, paymentId: string, flow: FlowFacts): Promise<Answer> {
  const { businessUnit = 'default' } = flow;
  const { riskUnit = businessUnit } = deps.units?.get(businessUnit) ?? {};
  const answer = await rowsUnderEither(deps, [businessUnit, riskUnit], paymentId, flow);
  if ('rows' in answer || answer.isAbsent !== true) return answer;
  const here = [businessUnit, riskUnit].map((unit) => deps.units?.get(unit)?.madeUnder);
  const madeUnder = await deps.reconcile.madeUnder(flow.workflowId);
  if (here[0] === undefined || madeUnder === undefined || here.includes(madeUnder)) return answer;
  const why = `it was made under ${madeUnder}, and for this worker business unit "${businessUnit}" is ${here[0]}`;
  return { why, isFinal: false };
}

type Deps = ActivityDeps & { reconcile: Pick<ReconcilePort, 'madeUnder'> };

async function rowsUnderEither(
  deps: ActivityDeps,
  [businessUnit, riskUnit]: readonly [string, string],
  paymentId: string,
  { currency }: FlowFacts,
): Promise<Answer> {
  const answer = await rowsUnder(deps, businessUnit, paymentId, currency);
  if ('rows' in answer || answer.isAbsent === undefined || riskUnit === businessUnit) return answer;
  const other = await rowsUnder(deps, riskUnit, paymentId, currency);
  // Each unit answers so for the payments of the other: only the first says what is wrong.
  return 'why' in other && other.isAbsent === true ? answer : other;
}

async function rowsUnder(
  deps: ActivityDeps,
  unit: string,
  paymentId: string,
  currency: string | undefined,
): Promise<Answer> {
  const provider = deps.providers.get(unit);
  if (provider === undefined)
    return { why: `business unit "${unit}" is not configured for this worker`, isFinal: false };
  if (deps.units?.get(unit)?.onlyNamedReads === true)
    return { why: `the service of "${unit}" offers no lists`, isFinal: true };
  try {
    return { rows: await withRetries(() => readRows(provider, paymentId, currency)) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return unread(error, unit);
  }
}

/** Only the read of the payment itself can say that there is none, and only by the service's own error body. */
function unread(error: ProviderError, unit: string): Answer {
  const { operation, failureType, message: why } = error;
  const list = NAMES.find((name) => LISTS[name][1] === operation);
  if (list !== undefined && offersNoList(error))
    return { why: `the service of "${unit}" offers no list of ${list}`, isFinal: true };
  if (list !== undefined || failureType !== FAILURE_TYPES.notFound) return { why, isFinal: false };
  const isAbsent = saysNoPayment(error);
  return { why, isFinal: isAbsent, isAbsent };
}

async function withRetries<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ProviderError) || attempt === TRIES || offersNoList(error)) throw error;
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
