import type { PaymentRecord } from '../../../tools/audit/payment-record.js';
import { describeEntry, type LedgerEntry } from '../../../tools/audit/ledger.js';
import { EventType, toMs } from '../engine/shapes.js';
import type { Run } from '../engine/run.js';
import type { Simulation } from '../simulation.js';

const LAST_EVENTS = 60;
const LAST_REQUESTS = 40;

/** All that is known of one flow, for a person who looks for a fault. */
export function tellStory(
  { engine, world }: Simulation,
  records: readonly PaymentRecord[],
  ledger: readonly LedgerEntry[],
  flow: number,
): string {
  const own = records.filter(({ number }) => number === flow);
  const names = own.flatMap(({ reference, paymentId }) => [reference, ...(paymentId === undefined ? [] : [paymentId])]);
  const isOwn = (text: string | undefined): boolean => names.some((name) => text?.includes(name) === true);
  const entries = ledger.filter((entry) => isOwn(entry.reconciliation_id ?? '') || isOwn(entry.payment_id));
  const requests = world.network.passed.filter(({ path, body }) => isOwn(path) || isOwn(body));
  const runs = [...engine.all()].filter(({ start }) => isOwn(start.workflowId));
  return [
    `Flow ${flow}: ${own[0]?.scenario} on ${own[0]?.profile}`,
    ...own.flatMap((record) => [
      `  record ${record.reference} over ${record.amount} ${record.currency}, ${record.outcome?.status ?? 'no outcome'}`,
      ...record.operations.map(
        ({ what, commandId, answer, refusal }) =>
          `    answered ${what} ${commandId ?? ''}: ${refusal ? `${refusal.type} ${refusal.message}` : JSON.stringify(answer)}`,
      ),
      ...(record.subscription?.commands ?? []).map(
        ({ name, answer, refusal }) => `    answered ${name}: ${refusal?.message ?? JSON.stringify(answer)}`,
      ),
    ]),
    '  ledger',
    ...entries.map(
      (entry) =>
        `    ${time(Number(entry.created))} ${describeEntry(entry)} key ${entry.idempotency_key} payment ${entry.payment_id}`,
    ),
    `  requests, the last ${LAST_REQUESTS} of ${requests.length}`,
    ...requests
      .slice(-LAST_REQUESTS)
      .map(
        ({ at, from, method, path, key, fate, arrivedAt, outcome }) =>
          `    ${time(at)} ${from} ${method} ${path} ${key ?? ''} ${fate} arrived ${arrivedAt.map(time).join(' ')} got ${outcome}`,
      ),
    ...runs.flatMap((run) => [
      `  run ${run.start.workflowId} ${run.start.runId} (${run.start.type}), status ${run.status}, the last events of ${run.events.length}`,
      ...linesOf(run).slice(-LAST_EVENTS),
    ]),
  ].join('\n');
}

function linesOf(run: Run): string[] {
  return run.events.map((event) => {
    const type = Object.entries(EventType).find(([, value]) => value === event.eventType)?.[0] ?? '';
    const what =
      event.activityTaskScheduledEventAttributes?.activityType?.name ??
      event.workflowExecutionSignaledEventAttributes?.signalName ??
      event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name ??
      event.activityTaskFailedEventAttributes?.failure?.message ??
      event.workflowTaskFailedEventAttributes?.failure?.message ??
      '';
    return `    ${time(toMs(event.eventTime) ?? 0)} ${String(event.eventId)} ${type.replace('EVENT_TYPE_', '')} ${what}`;
  });
}

function time(ms: number): string {
  return new Date(ms).toISOString().slice(5, 23);
}
