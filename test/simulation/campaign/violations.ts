import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { wakeParked } from '../../../tools/audit/flow-health.js';
import type { PaymentRecord } from '../../../tools/audit/payment-record.js';
import { auditPayments } from '../../../tools/audit/audit-payments.js';
import type { FinalOutcome } from '../../../src/contract/messages.js';
import { paymentWorkflowId, riskWorkflowId } from '../../../src/contract/names.js';
import type { Simulation } from '../simulation.js';
import type { Counts } from './counts.js';
import type { ProfileUnit } from '../../../tools/stack/profile-units.js';
import type { WebhookSide } from '../world/webhook-side.js';
import { countHistories } from './count-histories.js';
import { countEffects } from './profile-effects.js';
import { dropped, undelivered } from './lost-events.js';
import type { SimulatedOperator } from './operator.js';
import { replayAll } from './replay-all.js';
import { auditTold } from '../../../tools/audit/audit-told.js';
import type { ToldMerchants } from './told.js';

const DAY_MS = 86_400_000;
const LONGEST_DAYS = 60;

export interface Violation {
  /** Number of the flow; -1 when it is nobody's. */
  readonly flow: number;
  readonly sentence: string;
}

export interface ViolationParts {
  simulation: Simulation;
  records: readonly PaymentRecord[];
  resets: ReadonlySet<string>;
  operator: SimulatedOperator;
  counts: Counts;
  merchants: ToldMerchants;
  webhooks: WebhookSide;
  /** Those that flows were sent to. */
  units: readonly ProfileUnit[];
  /** Of which runs the whole history is replayed: see {@link replayAll}. */
  replays?: ((index: number) => boolean) | undefined;
}

/** Waits until all is over, and says what is wrong. */
export async function findViolations({
  simulation,
  records,
  resets,
  operator,
  counts,
  merchants,
  webhooks,
  units,
  replays,
}: ViolationParts): Promise<Violation[]> {
  const { engine, client, world } = simulation;
  const open = (): string[] => [...engine.all()].filter((run) => run.isOpen).map((run) => run.start.workflowId);
  for (let day = 0; day < LONGEST_DAYS && open().length > 0; day += 1) {
    await wakeParked(client, open());
    await operator.round();
    await sleep(DAY_MS);
  }
  const sentences: string[] = [];
  for (const workflowId of open()) {
    const said = await client.workflow.getHandle(workflowId).query<string>('explain').catch(String);
    sentences.push(`${workflowId}: is still open: ${said}`);
  }
  sentences.push(...engine.findings);
  sentences.push(...(await changedAnswers(simulation, records, resets, counts)));
  sentences.push(...(await undelivered(world)));
  const ledger = await world.control.wholeLedger();
  sentences.push(...dropped(webhooks.dropped, units, ledger));
  sentences.push(
    ...auditPayments(
      records.map((record) => relaxed(record, resets)),
      ledger,
    ),
  );
  sentences.push(...merchants.violations, ...auditTold(merchants.told, records, resets));
  for (const { type } of merchants.told) counts.add('told', type);
  sentences.push(...(await replayAll(simulation, counts, replays)));
  countHistories(engine, counts);
  countEffects(world.network.passed, records, units, ledger, counts);
  for (const record of records) {
    counts.add('ending', record.outcome?.status ?? (record.terminated ? 'terminated' : 'not ended'));
    counts.add('currency', record.currency);
    counts.add('profile', record.profile);
    for (const { what, answer, refusal } of record.operations)
      counts.add('answer', `${what}: ${answer?.status ?? refusal?.type ?? 'none'}`);
    for (const { name, refusal } of record.subscription?.commands ?? [])
      counts.add('answer', `${name}: ${refusal?.type ?? 'done'}`);
    if (record.subscription) counts.add('subscription ending', record.subscription.ended?.status ?? 'none');
  }
  return sentences.map((sentence) => ({ flow: flowOf(sentence, records, ledger), sentence }));
}

/** What was told once as final is told again. */
async function changedAnswers(
  { engine, holdfast }: Simulation,
  records: readonly PaymentRecord[],
  resets: ReadonlySet<string>,
  counts: Counts,
): Promise<string[]> {
  const violations: string[] = [];
  for (const { reference, outcome, analysisOnly, withoutReads } of records) {
    const workflowId = analysisOnly ? riskWorkflowId(reference) : paymentWorkflowId(reference);
    const run = engine.find(workflowId);
    if (outcome === undefined || run === undefined) continue;
    counts.add('message', 'query status');
    let now: FinalOutcome | undefined;
    try {
      ({ outcome: now } = await holdfast.status({ workflowId }));
    } catch (error) {
      violations.push(`${reference}: can't be asked any more: ${String(error)}`);
      continue;
    }
    const isSame = resets.has(workflowId)
      ? isSameEnding(outcome, now, withoutReads === true)
      : isDeepStrictEqual(now, outcome);
    if (!isSame) violations.push(`${reference}: was told ${JSON.stringify(outcome)}, and now ${JSON.stringify(now)}`);
  }
  return violations;
}

/** For a flow that was reset: it may learn otherwise what it knew, and that a hold is gone without knowing by whom. */
function isSameEnding(before: FinalOutcome, now: FinalOutcome | undefined, withoutReads: boolean): boolean {
  if (before.status === 'voided') return now?.status === 'voided' || now?.status === 'expired';
  // Reset after its window a flow asks for no risk analysis any more, and proves that nothing was sent.
  if (before.status === 'declined' && before.category === 'risk_declined' && now?.status === 'notExecuted') return true;
  // Where nothing shows the analysis that the run before has made, its review is left open when its time is over.
  if (withoutReads && 'risk' in before && now?.status === 'review' && now.risk?.decidedBy === 'time limit') return true;
  const stated = ['status', 'transactionId', 'amount', 'currency', 'capturedAmount'] as const;
  const of = (outcome: FinalOutcome | undefined, field: (typeof stated)[number]): unknown =>
    (outcome as Partial<Record<typeof field, unknown>> | undefined)?.[field];
  return stated.every((field) => of(before, field) === of(now, field));
}

/** After a reset a flow may know less than its callers were told, and refuse what it can't tell apart. */
function relaxed(record: PaymentRecord, resets: ReadonlySet<string>): PaymentRecord {
  if (resets.has(riskWorkflowId(record.reference)) && isLeftOpen(record))
    return { ...record, violations: record.violations.filter((said) => !said.includes('the answer was underReview')) };
  if (!resets.has(paymentWorkflowId(record.reference))) return record;
  return { ...record, operations: record.operations.map((operation) => ({ ...operation, expected: 'any' as const })) };
}

/** An analysis that nothing shows, although the run before the reset may have made it: nobody has decided. */
function isLeftOpen({ analysisOnly, withoutReads, outcome }: PaymentRecord): boolean {
  if (!analysisOnly || !withoutReads) return false;
  return outcome?.status === 'review' && outcome.risk?.decidedBy === 'time limit';
}

function flowOf(
  sentence: string,
  records: readonly PaymentRecord[],
  ledger: readonly { payment_id: string; reconciliation_id: string | null }[],
): number {
  const byReference = records
    .filter(({ reference }) => sentence.includes(reference))
    .toSorted((a, b) => b.reference.length - a.reference.length)[0];
  if (byReference) return byReference.number;
  const byPayment = ledger.find(({ payment_id: id }) => sentence.includes(id));
  return byPayment?.reconciliation_id ? flowOf(byPayment.reconciliation_id, records, []) : -1;
}
