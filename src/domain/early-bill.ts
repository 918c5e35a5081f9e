import { DAY_MS } from '../contract/time-units.js';
import type { DunningDecision } from '../contract/billing-activities.js';
import type { DunningPolicy } from './dunning.js';

/** As for any other bill: time to provide another card. */
const GRACE_DAYS = 3;

/**
 * The step of a bill that a person had charged before it is due: what is paid lasts until then, so that the bill is not given
 * up before, and whoever has to act has as long from then on as with any other. Its retries begin anew then, as far as its
 * number of declines allows: else only a person can have it paid, by other terms.
 * @param dueAt epoch ms, to come; `endsAt`: when the next period begins
 */
export function untilDue(
  { state, step }: DunningDecision,
  { dueAt, endsAt, policy }: { dueAt: number; endsAt: number; policy: DunningPolicy },
): DunningDecision {
  const days = Math.max(GRACE_DAYS, policy.retryDays.at(-1) ?? 0);
  const giveUpAt = Math.min(endsAt, dueAt + days * DAY_MS);
  if (step.do === 'wait') return { state, step: { ...step, giveUpAt: Math.max(step.giveUpAt, giveUpAt) } };
  if (step.do !== 'giveUp') return { state, step };
  const { hold } = state;
  // Another card would not be tried: a buyer who is asked for one brings it in vain.
  if (state.declines >= policy.maxAttempts && hold !== 'confirmation')
    return { state, step: { do: 'wait', for: 'person', giveUpAt: dueAt } };
  if (hold !== undefined && hold !== 'outcome') return { state, step: { do: 'wait', for: hold, giveUpAt } };
  const { firstDeclinedAt: _first, heldMs: _held, ...anew } = state;
  return { state: anew, step: { do: 'retry', at: dueAt, after: 'decline' } };
}
