import { idempotencyKey } from '../../src/contract/idempotency.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { findOurs } from '../../src/domain/ownership.js';
import { isCaptureOf } from '../../src/domain/sent-before.js';
import type { FlowState, Hold, VoidOf } from '../flow/state.js';
import { type CaptureOf, wholeOf } from './hold-steps.js';
import { listed } from './read.js';

/** What is to be captured; empty for a void. */
export interface Intent {
  amount?: number;
  reconciliationId?: string;
}

/**
 * True if the run before a reset has executed the operation that is due now: sending it under its key adopts it. A
 * capture of another amount belongs to another command, which the reset left out.
 */
export async function isOurs(
  flow: FlowState,
  hold: Hold,
  operation: 'capture' | 'void',
  { amount, reconciliationId }: Intent,
  command: CaptureOf | VoidOf | undefined,
): Promise<boolean> {
  const key = idempotencyKey(flow.workflowId, operation, hold.sequences[operation] + 1);
  const known = operation === 'capture' ? hold.captures : hold.voids;
  const records = (await listed(flow, operation))?.filter(({ transactionId }) => !known.includes(transactionId)) ?? [];
  // After a reset the activity adopts by the same rule, also if the service echoes no key.
  const ofDueKey = hold.seenAfterReset
    ? findOurs(records, { key, reconciliationId }).found
    : records.find(({ holdfastKey }) => holdfastKey === key);
  const isLater = ofDueKey === undefined && hold.seenAfterReset === true;
  const later = isLater ? sentLater(flow, hold, operation, records, command) : undefined;
  const ours = ofDueKey ?? later?.record;
  if (ours === undefined || (amount !== undefined && (ours.amount ?? wholeOf(flow, hold)) !== amount)) return false;
  if (later !== undefined) hold.sequences[operation] = later.sequence - 1;
  return true;
}

/**
 * What the service refused, or a brake stopped, used up its sequence in the run before: what followed was sent under a later
 * key. The due void takes that key, and so does a capture whose command has made it.
 */
function sentLater(
  { workflowId }: FlowState,
  { sequences, sentBefore }: Hold,
  operation: 'capture' | 'void',
  records: readonly TransactionRecord[],
  command: CaptureOf | VoidOf | undefined,
): { record: TransactionRecord; sequence: number } | undefined {
  const prefix = idempotencyKey(workflowId, operation, '');
  const isOfCommand = (sequence: number): boolean =>
    sentBefore !== undefined && command !== undefined && isCaptureOf(sentBefore, command.commandId, sequence);
  return records
    .filter(({ holdfastKey, status }) => holdfastKey?.startsWith(prefix) && status !== 'Failed')
    .map((record) => ({ record, sequence: Number(record.holdfastKey?.slice(prefix.length)) }))
    .filter(({ sequence }) => sequence > sequences[operation] && (operation === 'void' || isOfCommand(sequence)))
    .sort((one, other) => one.sequence - other.sequence)
    .at(0);
}
