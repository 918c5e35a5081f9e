import { isDeepStrictEqual } from 'node:util';
import { groupBy } from './ledger.js';
import type { Operation, PaymentRecord } from './payment-record.js';
import type { VerifiedNotification } from '../../src/client/verify-notification.js';
import { paymentActionsWorkflowId, paymentWorkflowId } from '../../src/contract/names.js';
import type { Outcome } from '../../src/contract/messages.js';

/** What the end of a flow, or of a command, is told by. Others tell what is under way. */
const END =
  /^(?:payment\.(?:succeeded|declined|notExecuted|voided)|hold\.(?:captured|voided|expired)|refund\.(?:succeeded|declined|notExecuted)|card\.(?:stored|consentedNotStored))$/;
/** Fields of an outcome that a notification of it repeats. */
const STATED = ['status', 'transactionId', 'amount', 'currency', 'capturedAmount', 'confirmed', 'retryable'] as const;

/**
 * Compares what merchants were told with what callers were answered: each notification is the same in every repeat, each
 * flow and each command has one end, and it is the one that its callers know. One sentence for each difference.
 * @param resets workflow ids of the flows that were reset: these may end otherwise than the run before did
 */
export function auditTold(
  told: readonly VerifiedNotification[],
  records: readonly PaymentRecord[],
  resets: ReadonlySet<string>,
): string[] {
  const byId = groupBy(told, ({ id }) => id);
  // A run that a reset made tells again what the one before has told, at its own time.
  const said = (one: VerifiedNotification): object =>
    resets.has(one.workflowId) ? { ...one, timestamp: '', sequence: 0 } : one;
  const changed = [...byId.values()].flatMap(([first, ...others]) => {
    const other = others.find((one) => first !== undefined && !isDeepStrictEqual(said(one), said(first)));
    return other === undefined || first === undefined
      ? []
      : [`${first.workflowId}: ${JSON.stringify(first)} came again as ${JSON.stringify(other)}`];
  });
  const once = [...byId.values()].flatMap(([first]) => (first === undefined ? [] : [first]));
  const ends = groupBy(
    once.filter(({ type }) => END.test(type)),
    ({ workflowId }) => workflowId,
  );
  const endsOf = (workflowId: string): readonly VerifiedNotification[] =>
    resets.has(workflowId) ? [] : (ends.get(workflowId) ?? []);
  const differences = records.flatMap((record) => {
    const { reference, outcome, operations, paymentId } = record;
    const own = endsOf(paymentWorkflowId(reference)).filter(({ data }) => data['command'] === undefined);
    const later = paymentId === undefined ? [] : endsOf(paymentActionsWorkflowId(paymentId));
    const sentences = [
      ...(own.length > 1 ? [`is told to have ended ${own.length} times: ${JSON.stringify(own)}`] : []),
      ...(outcome === undefined ? [] : own.flatMap((end) => differencesFrom('its flow', outcome, end))),
      ...operations.flatMap((operation) => ofCommand(operation, later)),
    ];
    return sentences.map((sentence) => `${reference}: ${sentence} (${record.scenario}, ${record.profile})`);
  });
  return [...changed, ...differences];
}

/** A command has its own id, or the reference that was given for it. */
function ofCommand(operation: Operation, later: readonly VerifiedNotification[]): string[] {
  const { what, commandId, reconciliationId, answer, refusal } = operation;
  const id = commandId ?? reconciliationId;
  const ends = later.filter(({ data }) => id !== undefined && data['commandId'] === id && data['command'] === what);
  const name = `${what} ${id}`;
  const statuses = new Set(ends.map(({ data }) => data['status']));
  return [
    ...(statuses.size > 1 ? [`${name} is told as ${[...statuses].join(' and as ')}`] : []),
    ...(answer === undefined ? [] : ends.flatMap((end) => differencesFrom(name, answer, end))),
    // The same id with another request is refused beside the command that has it.
    ...(refusal !== undefined && refusal.type !== 'ReferenceConflict' && statuses.has('succeeded')
      ? [`${name} was refused, and is told as succeeded`]
      : []),
  ];
}

function differencesFrom(name: string, answer: Outcome, { data, type }: VerifiedNotification): string[] {
  const told = (field: (typeof STATED)[number]): unknown =>
    (answer as Partial<Record<(typeof STATED)[number], unknown>>)[field];
  return STATED.flatMap((field) => {
    // A capture by command is answered with its amount, as any command is.
    const isOfCommand = field === 'capturedAmount' && data['command'] !== undefined;
    const answered = isOfCommand ? told('amount') : told(field);
    return data[field] === undefined || isDeepStrictEqual(data[field], answered)
      ? []
      : [
          `${name}: ${type} tells its ${field} as ${JSON.stringify(data[field])}, the caller was told ${JSON.stringify(answered)}`,
        ];
  });
}
