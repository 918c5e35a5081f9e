import { ApplicationFailure } from '@temporalio/common';
import type { TransactionActivities, TransactionOperation } from '../src/contract/activities.js';
import type {
  CreateTransactionCall,
  GetTransactionCall,
  ListTransactionsCall,
} from '../src/contract/activity-calls.js';
import type { Stoppable } from '../src/contract/brakes.js';
import { FAILURE_TYPES, type FailureDetails } from '../src/contract/names.js';
import type { TransactionRecord } from '../src/contract/records.js';
import { findOurs, type Search } from '../src/domain/ownership.js';
import { isUnknownWord } from '../src/domain/payment-words.js';
import { isOpenToTries } from '../src/domain/settling.js';
import {
  type CallOptions,
  type ProviderAnswer,
  type ProviderClient,
  ProviderError,
  type Transaction,
  type TransactionOptions,
} from '../src/provider/index.js';
import { mayBeLost } from './after-restore.js';
import { refuseIfBraked } from './brakes.js';
import type { ActivityTable } from './build-activities.js';
import { type ActivityDeps, type UnitTerms, readCall, readOptions } from './read-call.js';
import { hasOpenTry } from './open-tries.js';
import { captured, isOfOthers, refuseIfCancelled, refuseIfTold } from './refuse-after-reset.js';
import { sendKeyedPost } from './send-call.js';

/** Client calls of one kind of transaction, and the record that flows keep of an answer. */
interface TransactionRow<Operation extends TransactionOperation = TransactionOperation> {
  plural: Operation['plural'];
  /** The interface description has `GET` of a single one. */
  getIsNamed?: true;
  /** Its record says whether a restore may have lost what was done: the flow believes it without another look otherwise. */
  tellsOfRestore?: true;
  /** Others may make it on the payment of a flow as well. */
  othersMakeIt?: true;
  /** It takes, holds or sends money anew, instead of changing what a transaction before it has done. */
  begins?: true;
  /** What a brake must stop to stop the call; undefined: none stops it. */
  stoppedAs?(call: Operation['call']): Stoppable | undefined;
  /** The amount that the call names, for a service that may ignore it. */
  amountOf?(call: Operation['call']): number | undefined;
  post(
    provider: ProviderClient,
    call: Operation['call'],
    options: TransactionOptions,
  ): Promise<ProviderAnswer<Transaction>>;
  get(
    provider: ProviderClient,
    paymentId: string,
    id: string,
    options: CallOptions,
  ): Promise<ProviderAnswer<Transaction>>;
  list(provider: ProviderClient, paymentId: string, options: CallOptions): Promise<ProviderAnswer<Transaction[]>>;
  record(data: Transaction, requestId: string | undefined, terms: UnitTerms | undefined): Operation['record'];
}

/** One row for each kind, keyed by the suffix of its activities' names. */
export type TransactionTable<Operations extends { [Name in keyof Operations]: TransactionOperation }> = {
  [Name in keyof Operations]: TransactionRow<Operations[Name]>;
};

/** Builds the three activities of each row, such as `createCharge`, `getCharge` and `listCharges`. */
export function transactionRows<Operations extends { [Name in keyof Operations]: TransactionOperation }>(
  table: TransactionTable<Operations>,
): ActivityTable<ActivityDeps, TransactionActivities<Operations>> {
  const rows = Object.entries(table) as [string, TransactionRow][];
  const activities = rows.flatMap(([name, row]) => [
    [`create${name}`, (deps: ActivityDeps, call: CreateTransactionCall) => createTransaction(deps, row, call)],
    [`get${name}`, (deps: ActivityDeps, call: GetTransactionCall) => getTransaction(deps, row, call)],
    [`list${row.plural}`, (deps: ActivityDeps, call: ListTransactionsCall) => listTransactions(deps, row, call)],
  ]);
  return Object.fromEntries(activities) as ActivityTable<ActivityDeps, TransactionActivities<Operations>>;
}

/** `POST /payments/{payment_id}/...` */
async function createTransaction(
  deps: ActivityDeps,
  row: TransactionRow,
  call: CreateTransactionCall,
): Promise<TransactionRecord> {
  const terms = deps.units?.get(call.businessUnit);
  return await markedIfLost(deps, row, () => sendTransaction(deps, row, call, terms));
}

async function sendTransaction(
  deps: ActivityDeps,
  row: TransactionRow,
  call: CreateTransactionCall,
  terms: UnitTerms | undefined,
): Promise<TransactionRecord> {
  return await sendKeyedPost(
    deps,
    call,
    async (provider, options) => {
      await refusePart(provider, call, row.amountOf?.(call), terms);
      const stoppedAs = row.stoppedAs?.(call);
      if (stoppedAs !== undefined) refuseIfBraked(deps, call.businessUnit, stoppedAs);
      const answer = await row.post(provider, call, { ...options, currency: call.currency });
      return row.record(answer.data, answer.requestId, terms);
    },
    async () => {
      const shown = call.unlessCaptured === true ? await paymentStatus(deps, call) : undefined;
      if (shown === 'Captured' || shown === 'Refunded') throw captured(call, shown);
      const ours = onlyMatch(await listTransactions(deps, row, call), call, inWords(row.plural));
      const mayBeCaptured = shown !== undefined && (shown === 'Pending' || isUnknownWord(shown));
      if (ours === undefined && mayBeCaptured) throw captured(call, shown);
      if (ours === undefined && call.unlessCancelled === true) await refuseIfCancelled(deps, call);
      if (ours === undefined && row.begins === true) await refuseIfTold(deps, call);
      if (row.othersMakeIt === true && (await isOfOthers(deps, call, ours))) return undefined;
      // Nobody knows any more which tries of the run before have had an answer.
      return ours !== undefined && isOpenToTries(ours) ? { ...ours, earlierTryOpen: true } : ours;
    },
    async (record, earlierMayHaveLeft) => {
      const isOpen = await hasOpenTry(deps, record, { earlierMayHaveLeft, mayBeFirst: row.begins === true });
      return isOpen ? { ...record, earlierTryOpen: true } : record;
    },
  );
}

/** `GET /payments/{payment_id}/.../{id}` */
async function getTransaction(
  deps: ActivityDeps,
  row: TransactionRow,
  call: GetTransactionCall,
): Promise<TransactionRecord> {
  const terms = deps.units?.get(call.businessUnit);
  if (terms?.onlyNamedReads === true && row.getIsNamed !== true)
    throw notOffered(call.businessUnit, `read of one of the ${inWords(row.plural)}`);
  return await markedIfLost(deps, row, () =>
    readCall(deps, call, async (provider, options) => {
      const answer = await row.get(provider, call.paymentId, call.transactionId, options);
      return row.record(answer.data, answer.requestId, terms);
    }),
  );
}

async function markedIfLost(
  deps: ActivityDeps,
  { tellsOfRestore }: TransactionRow,
  call: () => Promise<TransactionRecord>,
): Promise<TransactionRecord> {
  const isLost = tellsOfRestore === true && (await mayBeLost(deps));
  const record = await call();
  return isLost ? { ...record, afterRestore: true } : record;
}

/** `GET /payments/{payment_id}/...` */
export async function listTransactions(
  deps: ActivityDeps,
  row: TransactionRow,
  call: ListTransactionsCall,
): Promise<TransactionRecord[]> {
  const terms = deps.units?.get(call.businessUnit);
  if (terms?.onlyNamedReads === true) throw notOffered(call.businessUnit, `list of ${inWords(row.plural)}`);
  return await readCall(deps, call, async (provider, options) => {
    const answer = await row.list(provider, call.paymentId, options);
    return answer.data.map((transaction) => row.record(transaction, answer.requestId, terms));
  });
}

/** The name in error texts, such as `risk analyses`. */
function inWords(plural: string): string {
  return plural.replace(/(?<=.)[A-Z]/g, ' $&').toLowerCase();
}

async function paymentStatus(deps: ActivityDeps, call: CreateTransactionCall): Promise<string | undefined> {
  const { data } = await readCall(deps, call, (provider, options) => provider.getPayment(call.paymentId, options));
  return data.status;
}

/** The unit's setting says that the read is missing, so the service need not refuse it three times first. */
function notOffered(businessUnit: string, what: string): ApplicationFailure {
  const details: FailureDetails = { mayHaveLeft: false, notOffered: true };
  return ApplicationFailure.nonRetryable(
    `Not asked: by its setting \`reads\`, the service of business unit "${businessUnit}" offers no ${what}`,
    FAILURE_TYPES.notFound,
    details,
  );
}

/**
 * Refuses a partial amount: the service would move the whole, and show that only afterwards.
 * @throws ProviderError before anything of the operation is sent
 */
async function refusePart(
  provider: ProviderClient,
  { businessUnit, paymentId, currency }: CreateTransactionCall,
  amount: number | undefined,
  terms: UnitTerms | undefined,
): Promise<void> {
  if (terms?.ignoresAmounts !== true || amount === undefined) return;
  const { data: payment } = await provider.getPayment(paymentId, readOptions(currency)).catch((error: unknown) => {
    throw unreadBefore(error);
  });
  if (payment.amount === amount) return;
  throw new ProviderError(
    `amount: ${amount} minor units are a part of the ${payment.amount} of the payment, and the service of business unit ` +
      `"${businessUnit}" takes the whole whatever is named (its setting \`namedAmounts\` is "ignored"); nothing was sent; ` +
      'leave the amount out for the whole',
    { kind: 'request', operation: 'namedAmounts', mayHaveLeft: false },
  );
}

/** An error of the read is none of the POST: that has not left, and no answer to a read refuses it. */
function unreadBefore(error: unknown): unknown {
  // Whoever threw these has sent nothing either.
  if (!(error instanceof ProviderError) || !error.mayHaveLeft) return error;
  const { kind, operation, httpStatus, requestId, retryAfterMs, failureType } = error;
  const isKept = failureType === FAILURE_TYPES.credentialsRejected || failureType === FAILURE_TYPES.rateLimited;
  return new ProviderError(`Nothing was sent, since the payment could not be read first: ${error.message}`, {
    kind,
    operation,
    mayHaveLeft: false,
    failureType: isKept ? failureType : FAILURE_TYPES.providerUnavailable,
    httpStatus,
    requestId,
    retryAfterMs,
  });
}

/** Finds the earlier run's transaction among all of its kind. It never guesses: if several match, nothing is sent. */
function onlyMatch<Kept extends TransactionRecord>(
  records: readonly Kept[],
  call: CreateTransactionCall,
  plural: string,
): Kept | undefined {
  const { key, reconciliationId, knownTransactionIds = [] } = call;
  // Ids that this run recorded after the reset include the earlier run's transaction: its key identifies it.
  const unknown = records.filter(
    ({ transactionId, holdfastKey }) => holdfastKey === key || !knownTransactionIds.includes(transactionId),
  );
  // Without a reconciliation id, a transaction is ours by its key or by not being in the known ids.
  const search = withoutGuess(findOurs(unknown, { key, reconciliationId }), call);
  if (search.found === undefined && search.ambiguous !== undefined) {
    const details: FailureDetails = { mayHaveLeft: true, ambiguousIds: search.ambiguous };
    throw ApplicationFailure.nonRetryable(
      `Not sent: these ${plural} are ambiguous, each may be ours or foreign: ${search.ambiguous.join(', ')}`,
      FAILURE_TYPES.outcomeUnknown,
      details,
    );
  }
  return unknown.find(({ transactionId }) => transactionId === search.found?.transactionId);
}

/** A transaction listed before the POST, without our key or reconciliation id, may be foreign: it is ambiguous. */
function withoutGuess(
  search: Search,
  { key, reconciliationId, notedTransactionIds = [] }: CreateTransactionCall,
): Search {
  const { found } = search;
  if (found === undefined || found.holdfastKey === key || !notedTransactionIds.includes(found.transactionId))
    return search;
  if (reconciliationId !== undefined && found.reconciliationId === reconciliationId) return search;
  return { found: undefined, ambiguous: [found.transactionId] };
}
