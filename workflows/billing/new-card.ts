import { dunningPolicyOf } from '../../src/domain/dunning-policy.js';
import { afterCardChange, attemptRefusal } from '../../src/domain/dunning-state.js';
import type { Billing } from './state.js';

/**
 * After a change of card: refusals of the old card don't apply any more, and the open bill is tried at once, unless a
 * payment for it is under way or in doubt.
 */
export function useNewCard(flow: Billing): void {
  if (flow.left !== undefined) flow.left = afterCardChange(flow.left);
  const { open } = flow;
  if (open === undefined) return;
  open.state = afterCardChange(open.state);
  if (flow.attempting || open.step.do === 'block' || open.step.do === 'nothing') return;
  // What still blocks is a doubt about money, or a fault that a person has to fix and another card can't.
  if (open.state.hold !== undefined) return;
  const policy = dunningPolicyOf(flow.input.dunning, flow.plan.interval);
  if (attemptRefusal(open.state, policy, 'person') === undefined) open.step = { do: 'attempt' };
}
