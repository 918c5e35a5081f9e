import { patched } from '@temporalio/workflow';
import { FAILURE_TYPES, PATCHES } from '../../src/contract/names.js';
import { GIVE_IT_AGAIN } from '../../src/contract/refusals.js';
import type { MoneyCommand } from '../flow/state.js';

type Answer = NonNullable<MoneyCommand['answer']>;

export interface Acted {
  answer: Answer;
  /** The next run may do it: it may be opened with an input that fits the payment, or the service shows more by then. */
  unfit?: true;
  /** Whoever has given it is asked to give it again in a moment: a merchant who is told that it has ended may refund in another way. */
  untold?: true;
}

export function badInput(refusal: string): Acted {
  return { answer: { refusal, type: FAILURE_TYPES.invalidInput } };
}

/** It closes sooner or later. The next run looks for itself. */
export function whileOpen(answer: Answer): Acted {
  if (!patched(PATCHES.forgetsRefusals)) return { answer };
  const isForAMoment = 'refusal' in answer && answer.refusal.includes(GIVE_IT_AGAIN);
  return { answer, unfit: true, ...(isForAMoment && { untold: true as const }) };
}

/** Why only the flow that made the payment may act on it. */
export function whyOpen(workflowId: string, handsOver: true | undefined): string {
  return handsOver === true
    ? `"${workflowId}", which made the payment, has ended, and closes once what it tells its merchant is handed over: ${GIVE_IT_AGAIN}`
    : `the flow that made the payment is still open; send the command to "${workflowId}"`;
}
