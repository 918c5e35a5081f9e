import { cardFreeAt, declinedTriesAt } from '../../src/domain/card-tries.js';
import type { DunningStep } from '../../src/contract/billing-activities.js';
import type { Attempted, Billing, OpenPeriod } from './state.js';

/** Counts a payment against the limit of the card that it was tried with, which may not be the present one any more. */
export function noteDecline(flow: Billing, token: string, attempted: Attempted): void {
  if (!('outcome' in attempted) || attempted.outcome.status !== 'declined') return;
  const now = Date.now();
  flow.declinedTries = [...declinedTriesAt(flow.declinedTries, now), { token, at: now }];
}

/** Why the present card must not be tried now, whoever asks for it; undefined when it may. */
export function limitRefusal(flow: Billing): string | undefined {
  const freeAt = cardFreeAt(flow.declinedTries, flow.card.token, Date.now());
  if (freeAt === undefined) return undefined;
  const until = new Date(freeAt).toISOString();
  return `its card was declined as often as card schemes allow within 30 days; change the card, or wait until ${until}`;
}

/**
 * Puts off a try that would come too early for its card. Where the next period begins first, only another card can pay:
 * then that is waited for, and nobody is cancelled for it.
 */
export function keepToLimit(flow: Billing, open: OpenPeriod): void {
  const { step, endsAt } = open;
  if (step.do !== 'attempt' && step.do !== 'retry') return;
  const freeAt = cardFreeAt(flow.declinedTries, flow.card.token, Date.now());
  if (freeAt === undefined || (step.do === 'retry' && step.at >= freeAt)) return;
  const after = step.do === 'retry' ? step.after : 'decline';
  const wait: DunningStep = { do: 'wait', for: 'card', giveUpAt: endsAt, cutShort: true };
  open.step = freeAt < endsAt ? { do: 'retry', at: freeAt, after } : wait;
}
