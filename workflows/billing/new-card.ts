import { dunningPolicyOf } from '../../src/domain/dunning-policy.js';
import { afterCardChange, attemptRefusal } from '../../src/domain/dunning-state.js';
import type { Billing } from './state.js';

/**
 * After a change of card: what the old one was refused for holds no longer, and the open bill is tried at once, unless
 * a payment for it is under way or in doubt.
 */
export function useNewCard(flow: Billing): void {
  if (flow.left !== undefined) flow.left = afterCardChange(flow.left);
  const { open } = flow;
  if (open === undefined) return;
  open.state = afterCardChange(open.state);
  if (flow.attempting || open.step.do === 'block' || open.step.do === 'nothing') return;
  // What is left after the change is a doubt about money, or somebody has to mend what another card can't.
  if (open.state.hold !== undefined) return;
  const policy = dunningPolicyOf(flow.input.dunning, flow.plan.interval);
  if (attemptRefusal(open.state, policy, 'person') === undefined) open.step = { do: 'attempt' };
}
