import { showMoney } from '../../src/domain/show-money.js';
import { dunningPolicyOf } from '../../src/domain/dunning-policy.js';
import { givenUp } from '../../src/domain/dunning-state.js';
import { attemptToBill } from './attempt-to-bill.js';
import { commandBefore } from './await-command.js';
import { judge } from './judge-attempt.js';
import { notify } from './outbox.js';
import { doubtOf, show } from './show.js';
import type { Billing, OpenPeriod } from './state.js';

/**
 * One step with the open bill: an attempt, a wait for the next one, or its end. Returns how the subscription ends
 * when that ends it.
 */
export async function pursueBill(flow: Billing, open: OpenPeriod): Promise<{ givenUp: string } | undefined> {
  const { step } = open;
  switch (step.do) {
    case 'attempt':
      await attempt(flow, open);
      return undefined;
    case 'retry':
      show(flow, { status: 'pastDue', waitingFor: 'retry', dueAt: step.at, needsOperator: doubtOf(flow) });
      if (await commandBefore(flow, step.at, 'Until the next try of the bill')) return undefined;
      open.step = isOverdue(flow, open) ? { do: 'giveUp', effect: 'continue' } : { do: 'attempt' };
      return undefined;
    case 'wait': {
      const waitingFor = step.for === 'card' ? ('card' as const) : ('operator' as const);
      show(flow, { status: 'pastDue', waitingFor, dueAt: step.giveUpAt, needsOperator: doubtOf(flow) });
      if (await commandBefore(flow, step.giveUpAt, 'Until the bill is given up')) return undefined;
      const policy = dunningPolicyOf(flow.input.dunning, flow.plan.interval);
      open.step = { do: 'giveUp', effect: givenUp(open.state, policy) };
      return undefined;
    }
    case 'block':
      show(flow, { status: 'pastDue', waitingFor: 'operator', needsOperator: doubtOf(flow) });
      await commandBefore(flow, undefined, 'Until it is known');
      return undefined;
    case 'giveUp':
      return giveUp(flow, open, step.effect);
    case 'nothing':
      closeBill(flow, open);
      return undefined;
  }
}

/** An outage has lasted until the next period: its bill follows at once, and two at a time are only made if wanted. */
function isOverdue({ input }: Billing, { endsAt }: OpenPeriod): boolean {
  return Date.now() >= endsAt && input.missedPeriods !== 'billAll';
}

async function attempt(flow: Billing, open: OpenPeriod): Promise<void> {
  const { token } = flow.card;
  open.attempts += 1;
  flow.attempting = true;
  show(flow, { status: 'billing', waitingFor: 'settlement' });
  const attempted = await attemptToBill(flow, open);
  flow.attempting = false;
  await judge(flow, open, attempted, flow.card.token !== token);
}

function closeBill(flow: Billing, open: OpenPeriod): void {
  flow.left = open.state;
  delete flow.open;
  flow.closedOne = true;
}

function giveUp(
  flow: Billing,
  open: OpenPeriod,
  effect: 'cancel' | 'pause' | 'continue',
): { givenUp: string } | undefined {
  const { period, amount } = open;
  const { currency } = flow.input;
  flow.counts.unpaid += 1;
  notify(flow, 'subscription.unpaid', { period, amount, currency, effect });
  closeBill(flow, open);
  if (effect === 'cancel') return { givenUp: `period ${period}, ${showMoney(amount, currency)}, stayed unpaid` };
  if (effect === 'pause') {
    flow.paused = { since: Date.now() };
    notify(flow, 'subscription.paused', { period });
  }
  return undefined;
}
