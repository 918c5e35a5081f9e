import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';
import { cutAttribute } from '../contract/cut-attribute.js';
import {
  paymentActionsWorkflowId,
  PAYMENTS_TASK_QUEUE,
  referenceOfWorkflowId,
  WORKFLOW_TYPES,
} from '../contract/names.js';
import {
  type Finding,
  FINDING_MEMO,
  findingWorkflowId,
  type FlowFacts,
  RECONCILIATION_TYPES,
  type ReconcilePort,
  type Swept,
} from '../contract/reconcile.js';
import { MONEY_TYPES } from '../domain/reconcile/account.js';
import { described } from './earlier-runs.js';
import { inHistory, madeUnderOf, orUnreadable } from './flow-history.js';
import { openRunOf } from './open-run.js';
import { currencyOf, tellOfDispute } from './start-actions.js';
import { keyword } from './start-options.js';
import { speakingRun } from './speaking-run.js';
import { isOpen, OPEN } from './is-open.js';

const PAGE = 1_000;
/** Flows that are read at once. */
const AT_ONCE = 16;
/** A shorter text stands in a history by chance, such as an acquirer's number in a time: it counts only as a whole. */
const LEAST_BY_CHANCE = 20;
/** Values in one query. */
const IN_ONE_QUERY = 50;

const MONEY = `WorkflowType IN (${MONEY_TYPES.map((type) => `"${type}"`).join(', ')})`;
/** A later run has replaced one that continued as new. */
const OURS = `TaskQueue STARTS_WITH "holdfast" AND ${MONEY} AND ExecutionStatus != "ContinuedAsNew"`;

/** The Temporal calls of a reconciliation, over an ordinary client. */
export function createReconcilePort(client: Client): ReconcilePort {
  return {
    flowsBetween(from, until) {
      const begun = `StartTime < "${iso(until)}"`;
      return listed(client, `${OURS} AND ${begun} AND (${OPEN} OR CloseTime >= "${iso(from)}")`);
    },
    flowsOf: (swept) => flowsOf(client, swept),
    flowsById: (ids) => inParts(ids, async (id) => await flowById(client, id)),
    async flowsOfPayments(paymentIds) {
      const found: FlowFacts[] = [];
      for (const query of queriesOf(paymentIds)) for await (const flow of listed(client, query)) found.push(flow);
      return found;
    },
    async knownToOpen(workflowId, texts) {
      const { shown } = await openRunOf(client, workflowId).catch(orUnreadable(workflowId));
      return new Set(
        texts.filter((text) => shown.includes(text.length < LEAST_BY_CHANCE ? JSON.stringify(text) : text)),
      );
    },
    madeUnder: async (workflowId) => await madeUnderOf(client, workflowId).catch(orUnreadable(workflowId)),
    keepFinding: (finding) => keepFinding(client, finding),
    async firstStartedAt(workflowId) {
      let first: number | undefined;
      const query = `WorkflowId = ${quoted(workflowId)}`;
      for await (const { startTime } of client.workflow.list({ query, pageSize: PAGE }))
        first = Math.min(first ?? startTime.getTime(), startTime.getTime());
      return first;
    },
    async keptSince() {
      const { workflowService, options } = client;
      const { config } = await workflowService.describeNamespace({ namespace: options.namespace });
      return Date.now() - Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1_000;
    },
  };
}

function flowsOf(client: Client, swept: Swept): AsyncIterable<FlowFacts> {
  switch (swept.which) {
    case 'stopped':
      return stopped(listed(client, `${OURS} AND ExecutionStatus IN ("Terminated", "TimedOut")`));
    case 'needsOperator':
      return listed(client, `${OURS} AND NeedsOperator = true`);
    case 'contradicted':
      return flowsOfParkedEvents(client);
    case 'ended':
      return listed(client, `${OURS} AND CloseTime >= "${iso(swept.from)}" AND CloseTime < "${iso(swept.to)}"`);
  }
}

async function* stopped(flows: AsyncIterable<FlowFacts>): AsyncGenerator<FlowFacts> {
  for await (const flow of flows) if (flow.state === 'stopped') yield flow;
}

/** Of events that contradict how their flow has ended, or name a transaction that it does not know. */
async function* flowsOfParkedEvents(client: Client): AsyncGenerator<FlowFacts> {
  const query = `WorkflowType = "${WORKFLOW_TYPES.parkedEvent}" AND NeedsOperator = true`;
  const payments = new Set<string>();
  for await (const info of client.workflow.list({ query, pageSize: PAGE })) {
    const paymentId = attributesOf(info)['PaymentId'];
    if (typeof paymentId === 'string') payments.add(paymentId);
  }
  const ids = new Set<string>();
  for (const ofPayments of queriesOf([...payments])) await noteIds(client, ofPayments, ids);
  yield* read(client, ids);
}

/** Flows of payments, so many in one query. */
function queriesOf(paymentIds: readonly string[]): string[] {
  const queries: string[] = [];
  for (let start = 0; start < paymentIds.length; start += IN_ONE_QUERY) {
    const values = paymentIds.slice(start, start + IN_ONE_QUERY).map(quoted);
    queries.push(`${OURS} AND PaymentId IN (${values.join(', ')})`);
  }
  return queries;
}

/**
 * Lists lag, promise no order, and show runs that a reset has replaced: they only name the flows, and each is read as it
 * stands now.
 */
async function* listed(client: Client, query: string): AsyncGenerator<FlowFacts> {
  const ids = new Set<string>();
  await noteIds(client, query, ids);
  yield* read(client, ids);
}

async function noteIds(client: Client, query: string, ids: Set<string>): Promise<void> {
  for await (const { workflowId } of client.workflow.list({ query, pageSize: PAGE })) ids.add(workflowId);
}

async function* read(client: Client, ids: ReadonlySet<string>): AsyncGenerator<FlowFacts> {
  const sorted = [...ids].sort();
  for (let start = 0; start < sorted.length; start += AT_ONCE)
    yield* await inParts(sorted.slice(start, start + AT_ONCE), (id) => flowById(client, id));
}

async function flowById(client: Client, workflowId: string): Promise<FlowFacts | undefined> {
  const latest = await described(client, workflowId, undefined);
  return latest === undefined ? undefined : await factsOf(client, await speakingRun(client, latest));
}

async function factsOf(client: Client, run: WorkflowExecutionDescription): Promise<FlowFacts> {
  const { workflowId, type, startTime, closeTime } = run;
  const { PaymentStatus, WaitingFor, PaymentId, BusinessUnit, AmountMinor, Currency, NeedsOperator } =
    attributesOf(run);
  const state = stateOf(run.status.name);
  const isActions = type === WORKFLOW_TYPES.paymentActions;
  const paymentId = typeof PaymentId === 'string' ? PaymentId : undefined;
  return {
    workflowId,
    type,
    state,
    startedAt: startTime.getTime(),
    ...(closeTime !== undefined && { closedAt: closeTime.getTime() }),
    ...(typeof PaymentStatus === 'string' && { status: PaymentStatus }),
    ...(typeof WaitingFor === 'string' && { waitingFor: WaitingFor }),
    ...(paymentId !== undefined && { paymentId }),
    ...(typeof BusinessUnit === 'string' && { businessUnit: BusinessUnit }),
    ...(NeedsOperator === true && { needsOperator: true }),
    // A flow of commands was started for no sum.
    ...(typeof AmountMinor === 'number' && !isActions && { amount: AmountMinor }),
    ...(typeof Currency === 'string' && { currency: Currency }),
    ...(await inHistory(client, run, { type, state, ...(paymentId !== undefined && { paymentId }) })),
  };
}

function stateOf(name: string): FlowFacts['state'] {
  if (name === 'TERMINATED' || name === 'TIMED_OUT') return 'stopped';
  return isOpen({ name }) ? 'open' : 'ended';
}

/**
 * The same difference is the same workflow: found again it is known, open or acknowledged. One that was cancelled or
 * terminated has ended by nobody's word, and begins again.
 */
async function keepFinding(client: Client, finding: Finding): Promise<'fresh' | 'known'> {
  if (finding.kind === 'disputed') await passOnDispute(client, finding);
  try {
    await client.workflow.start(RECONCILIATION_TYPES.finding, {
      workflowId: findingWorkflowId(finding),
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [finding],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      memo: { [FINDING_MEMO]: finding },
      typedSearchAttributes: attributesOfFinding(finding),
      staticSummary: `Finding ${finding.kind}, ${finding.subject}`.slice(0, 200),
    });
    return 'fresh';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'known';
    throw error;
  }
}

/** Told before it is kept, so that none is lost; once it is kept, the same statement tells of it no more. */
async function passOnDispute(client: Client, finding: Finding): Promise<void> {
  const { paymentId, businessUnit, workflowId } = finding;
  if (paymentId === undefined || businessUnit === undefined || workflowId === undefined) return;
  if ((await described(client, findingWorkflowId(finding), undefined)) !== undefined) return;
  const currency = (await currencyOf(client, [workflowId])) ?? finding.currency;
  if (currency === undefined) return;
  const paymentReference = referenceOfWorkflowId(workflowId);
  const isCreator = paymentReference !== undefined && workflowId !== paymentActionsWorkflowId(paymentId);
  const input = { paymentId, businessUnit, currency, ...(isCreator && { paymentReference }) };
  await tellOfDispute(client, input, 'statement');
}

function attributesOfFinding({ paymentId, businessUnit, amount, currency }: Finding): SearchAttributePair[] {
  return [
    { key: keyword('PaymentStatus'), value: 'found' },
    { key: keyword('WaitingFor'), value: 'operator' },
    { key: defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL), value: true },
    ...(paymentId === undefined ? [] : [{ key: keyword('PaymentId'), value: cutAttribute(paymentId) }]),
    ...(businessUnit === undefined ? [] : [{ key: keyword('BusinessUnit'), value: cutAttribute(businessUnit) }]),
    ...(currency === undefined ? [] : [{ key: keyword('Currency'), value: cutAttribute(currency) }]),
    ...(amount === undefined
      ? []
      : [{ key: defineSearchAttributeKey('AmountMinor', SearchAttributeType.INT), value: amount }]),
  ];
}

async function inParts<Item, Found>(
  items: readonly Item[],
  read: (item: Item) => Promise<Found | undefined>,
): Promise<Found[]> {
  const found: Found[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const part = await Promise.all(items.slice(start, start + AT_ONCE).map(read));
    found.push(...part.filter((each) => each !== undefined));
  }
  return found;
}

function attributesOf(run: WorkflowExecutionInfo | WorkflowExecutionDescription): Record<string, unknown> {
  return Object.fromEntries(run.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
}

const iso = (time: number): string => new Date(time).toISOString();

function quoted(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
