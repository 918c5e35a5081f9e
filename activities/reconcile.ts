import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import {
  addCounts,
  ASK_AGAIN_MS,
  type Finding,
  findingWorkflowId,
  type FlowFacts,
  type MatchedStatements,
  type MatchStatementsCall,
  MOST_COUNTED,
  noCounts,
  type ReconcileActivities,
  type ReconcileCounts,
  type ReconcilePort,
  type SweepCall,
  type SweptCounts,
  UnreadableFlow,
} from '../src/contract/reconcile.js';
import { accountOf } from '../src/domain/reconcile/account.js';
import { type Answer, reconcileFlow, reconcileStatement, whyTooOld } from '../src/domain/reconcile/reconcile.js';
import { parseReconcilable } from '../src/domain/reconcile/statement-rows.js';
import { unasked, unfollowed } from '../src/domain/reconcile/unfollowed.js';
import { type ActivityTable, buildActivities, requireDecodedCall } from './build-activities.js';
import { rowsOfPayment } from './payment-rows.js';
import type { ActivityDeps } from './read-call.js';

/**
 * A statement that was put down for this worker, or why a file is none, or can't be read. `changed`: epoch ms of when it
 * was put there, or written last.
 */
export type GivenStatement = { name: string; changed: number } & ({ text: string } | { fault: string; unread?: true });

export interface ReconcileDeps extends ActivityDeps {
  reconcile: ReconcilePort;
  /** undefined: there is no place for statements. */
  statements?: (() => Promise<GivenStatement[]>) | undefined;
}

export function createReconcileActivities(deps: ReconcileDeps): ReconcileActivities {
  const table: ActivityTable<ReconcileDeps, ReconcileActivities> = { reconcileFlows, matchStatements };
  return buildActivities(deps, table, requireDecodedCall);
}

/** How far it has come, for the attempt after this one. */
interface Progress {
  /** Workflow id: all before it are done, and it too. */
  last: string;
  counts: SweptCounts;
}

/** ms. Of the last two days of that time, one has a reconciliation. */
const LAST_TRY_MS = 2 * 86_400_000;

/** Less than a third of the heartbeat timeout. */
const BEAT_MS = 5_000;

/** Flows come by their workflow ids, so that an attempt goes on where the one before has ended. */
async function reconcileFlows(deps: ReconcileDeps, call: SweepCall): Promise<SweptCounts> {
  const { heartbeatDetails } = activityInfo();
  const before: Progress = (heartbeatDetails as Progress | undefined) ?? { last: '', counts: noCounts() };
  let progress = before;
  const kept = keeping(deps.reconcile, call.counted, before.counts.counted);
  const beats = setInterval(() => heartbeat(progress), BEAT_MS).unref();
  const ask = paced(call.readsPerSecond, (paymentId: string, flow: FlowFacts) => rowsOfPayment(deps, paymentId, flow));
  try {
    for await (const flow of deps.reconcile.flowsOf(call.swept)) {
      if (flow.workflowId <= before.last) continue;
      cancellationSignal().throwIfAborted();
      const counts = addCounts(progress.counts, await reconcileOne(deps, flow, call, ask, kept.keep));
      progress = { last: flow.workflowId, counts: { ...counts, ...kept.counted() } };
    }
    return progress.counts;
  } finally {
    clearInterval(beats);
  }
}

async function reconcileOne(
  deps: ReconcileDeps,
  flow: FlowFacts,
  { swept, sample, windowMs, now }: SweepCall,
  ask: (paymentId: string, flow: FlowFacts) => Promise<Answer>,
  keep: Keep,
): Promise<ReconcileCounts> {
  if (isOfAnotherSweep(flow, swept)) return noCounts();
  const isDoubtful = swept.which !== 'ended' || flow.unreadable !== undefined || accountOf(flow).doubts.size > 0;
  if (!isDoubtful && !(flow.state === 'ended' && isSampled(flow.workflowId, sample)))
    return { ...noCounts(), flows: 1 };
  const reconciled = await reconcileFlow(flow, ask, deps.reconcile, { windowMs, now }).catch(orUnreadable);
  const { findings, isAsked, unanswered, askAgain } =
    reconciled instanceof UnreadableFlow
      ? { findings: [], isAsked: false, unanswered: reconciled.message, askAgain: true }
      : reconciled;
  const isOpen = askAgain === true && isDoubtful;
  const isStopped = flow.state === 'stopped';
  // The next reconciliation may begin after it. An event may have come long after its flow has ended, and is shown itself.
  const isOld = (isStopped || swept.which === 'ended') && (flow.closedAt ?? now) < now - ASK_AGAIN_MS + LAST_TRY_MS;
  const given = isOpen && isOld ? [(isStopped ? unfollowed : unasked)(flow, unanswered ?? '')] : [];
  return {
    ...noCounts(),
    flows: 1,
    asked: isAsked ? 1 : 0,
    doubts: isDoubtful ? 1 : 0,
    unanswered: unanswered === undefined ? 0 : 1,
    askAgain: isOpen ? 1 : 0,
    reasons: unanswered === undefined ? [] : [`${flow.workflowId}: ${unanswered}`],
    ...(await keep([...findings, ...given])),
  };
}

/** One flow that nobody here can read must not keep all others from being compared. */
function orUnreadable(error: unknown): UnreadableFlow {
  if (error instanceof UnreadableFlow) return error;
  throw error;
}

/** A flow that was stopped, or calls an operator, is asked about as that, and counted once. */
function isOfAnotherSweep({ state, needsOperator }: FlowFacts, { which }: SweepCall['swept']): boolean {
  if (which === 'stopped') return false;
  return state === 'stopped' || (which !== 'needsOperator' && needsOperator === true);
}

type Keep = (findings: readonly Finding[]) => Promise<Pick<ReconcileCounts, 'found' | 'fresh'>>;

/**
 * Keeps findings, and counts each once. One comes again from a flow that another sweep has asked about, or from another
 * flow of its payment.
 * @param before hashes of those that calls before this one have counted, `own` of those that an attempt before has
 */
function keeping(
  port: ReconcilePort,
  before: readonly string[] = [],
  own: readonly string[] = [],
): { keep: Keep; counted: () => Pick<SweptCounts, 'counted'> } {
  const known = new Set([...before, ...own]);
  const counted = [...own];
  const keep: Keep = async (findings) => {
    const found: ReconcileCounts['found'] = {};
    let fresh = 0;
    for (const finding of findings) {
      if ((await port.keepFinding(finding)) === 'fresh') fresh += 1;
      const hash = createHash('sha256').update(findingWorkflowId(finding)).digest('base64url').slice(0, 16);
      if (known.has(hash)) continue;
      known.add(hash);
      counted.push(hash);
      found[finding.kind] = (found[finding.kind] ?? 0) + 1;
    }
    return { found, fresh };
  };
  return { keep, counted: () => (counted.length === 0 ? {} : { counted: counted.slice(-MOST_COUNTED) }) };
}

/** The same flows for every attempt, and no others because of their references. */
function isSampled(workflowId: string, sample: number): boolean {
  return createHash('sha256').update(workflowId).digest().readUInt32BE() < sample * 2 ** 32;
}

/** So many calls a second at most, one after the other. */
function paced<Call extends unknown[], Reply>(
  perSecond: number,
  ask: (...call: Call) => Promise<Reply>,
): (...call: Call) => Promise<Reply> {
  let next = 0;
  return async (...call) => {
    const wait = next - performance.now();
    if (wait > 0) await sleep(wait, undefined, { signal: cancellationSignal() });
    next = Math.max(next, performance.now()) + 1_000 / perSecond;
    return await ask(...call);
  };
}

/** A statement with a fault is refused as a whole, and the others are matched. */
async function matchStatements(
  { reconcile, statements }: ReconcileDeps,
  { since, again = [], now, windowMs, counted }: MatchStatementsCall,
): Promise<MatchedStatements> {
  const { keep } = keeping(reconcile, counted);
  const matched: MatchedStatements = { found: {}, fresh: 0, statements: [], refusedStatements: [] };
  const beats = setInterval(() => heartbeat(), BEAT_MS).unref();
  try {
    for (const { name, changed: at, ...given } of (await statements?.()) ?? []) {
      // It came before, and nobody could read it then.
      const changed = again.includes(name) ? now : at;
      const parsed =
        'fault' in given ? { faults: changed > since ? [given.fault] : [] } : parseReconcilable(given.text, { now });
      // An acquirer's comes days after its time is over. One that was there before has been matched.
      if ('statement' in parsed && Math.max(parsed.statement.covers.until, changed) <= since) continue;
      const refuse = (faults: string[]): void => {
        log.warn(`A statement was refused, ${name}: the report of this reconciliation says in which lines and why`);
        const unread = 'fault' in given && given.unread === true;
        matched.refusedStatements.push({ name, faults, ...(unread && { unread }) });
      };
      const faults = 'faults' in parsed ? parsed.faults : [await whyTooOld(parsed.statement, reconcile)];
      const refused = faults.filter((fault) => fault !== undefined);
      if (refused.length > 0) refuse(refused);
      else if ('statement' in parsed) {
        const findings = await reconcileStatement(parsed.statement, reconcile, { windowMs, now }).catch(orUnreadable);
        if (findings instanceof UnreadableFlow) {
          refuse([`${findings.message}; put it down again then`]);
          continue;
        }
        const { found, fresh } = addCounts({ ...noCounts(), ...matched }, { ...noCounts(), ...(await keep(findings)) });
        Object.assign(matched, { found, fresh });
        matched.statements.push({ name, rows: parsed.statement.rows.length });
      }
    }
    return matched;
  } finally {
    clearInterval(beats);
  }
}
