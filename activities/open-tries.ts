import { activityInfo } from '@temporalio/activity';
import type { TransactionRecord } from '../src/contract/records.js';
import { isOpenToTries } from '../src/domain/settling.js';
import { taskWasLost } from './engine-calls.js';
import type { ActivityDeps } from './read-call.js';
import { provenFirstTry } from './send-call.js';

interface Tries {
  /** An earlier attempt that is known of may have left. */
  earlierMayHaveLeft: boolean;
  /** It may be the first call of its flow, which a lost workflow task may have sent as well. */
  mayBeFirst: boolean;
}

/**
 * Whether an earlier try of its key may still change what the service has just answered: stuck on its way it arrives later, and
 * the service asks the provider again. The engine is asked only about a failure, since a buyer waits for what pends.
 */
export async function hasOpenTry(
  deps: ActivityDeps,
  record: TransactionRecord,
  { earlierMayHaveLeft, mayBeFirst }: Tries,
): Promise<boolean> {
  if (!isOpenToTries(record)) return false;
  if (earlierMayHaveLeft) return true;
  if (record.status !== 'Failed') return false;
  if (activityInfo().isLocal) return !(await provenFirstTry(deps));
  // The money may have moved already: an engine that does not answer must not fail the call.
  return mayBeFirst && (await taskWasLost(deps).catch(() => true));
}
