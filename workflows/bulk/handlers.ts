import {
  BULK_RESULTS,
  BULK_UNDER_WAY,
  type BulkCounts,
  type BulkInput,
  type BulkSlice,
  type BulkStatus,
} from '../../src/contract/bulk.js';
import { answerQueries, countUnknownSignals } from '../kit/run.js';

/** How far a bulk has come: what a run leaves to the next one. */
export interface BulkState {
  v: 1;
  /** Epoch ms. */
  begun: number;
  after?: string;
  counts: BulkCounts;
}

/** Must run before the first await. @returns set `isOver` once all is done */
export function registerBulkHandlers(input: BulkInput, state: BulkState): { isOver: boolean } {
  const shown = { isOver: false };
  answerQueries(
    () => statusOf(input, state, shown.isOver),
    () => explainBulk(input, state, shown.isOver),
  );
  countUnknownSignals({ ignored: {} });
  return shown;
}

export function statusOf(input: BulkInput, { counts }: BulkState, isOver: boolean): BulkStatus {
  const { name, businessUnit, action } = input;
  return { status: isOver ? 'completed' : 'started', name, businessUnit, action: action.do, ...counts };
}

export function addSlice({ counts }: BulkState, { results, leftAlone }: BulkSlice): BulkCounts {
  const next = { ...counts, leftAlone: counts.leftAlone + leftAlone };
  for (const result of BULK_RESULTS) next[result] += results.filter((one) => one.result === result).length;
  return next;
}

/** One or two sentences for a person. */
export function explainBulk(
  { name, action, businessUnit, who, why }: BulkInput,
  state: BulkState,
  isOver: boolean,
): string {
  const { done, refused, failed, leftAlone } = state.counts;
  const others = action.do === 'changeCard' ? `, ${leftAlone} have another card` : '';
  return (
    `Bulk ${name}, ${action.do} of the subscriptions of business unit "${businessUnit}", by ${who} (${why}), ` +
    `${isOver ? 'is over' : BULK_UNDER_WAY}: ${done} done, ${refused} refused, ${failed} without an answer${others}. ` +
    `npx holdfast subscriptions bulk results ${name} lists them.`
  );
}
