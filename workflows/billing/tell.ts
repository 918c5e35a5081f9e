import { hashOf } from '../../src/contract/idempotency.js';
import type { NotificationType } from '../../src/contract/notifications.js';
import { tell } from '../kit/outbox.js';
import { notAfterCancel } from './after-cancel.js';
import type { Billing, OpenPeriod } from './state.js';

/**
 * Tells the merchant of the subscription.
 * @param about what makes it one of its type: a period, a payment, a command
 */
export function tellOf(
  flow: Billing,
  type: Extract<NotificationType, `subscription.${string}`>,
  about: string,
  data: Record<string, unknown> = {},
): void {
  const { reference, metadata = {} } = flow.input;
  const noted = Object.keys(metadata).length === 0 ? {} : { metadata };
  tell(flow, type, about, { subscription: reference, ...data, ...noted });
}

/** @param token of a card that its limit stops: each time that it is given, another one is asked for again */
export function askForCard(flow: Billing, open: OpenPeriod, { giveUpAt }: { giveUpAt: number }, token?: string): void {
  const { period, amount, attempts, cardBy } = open;
  const { currency } = flow.input;
  const card = token === undefined ? '' : `.${cardBy ?? hashOf(token.toLowerCase()).slice(0, 8)}`;
  const about = `${period}.${attempts}${card}`;
  const until = new Date(notAfterCancel(flow, open, giveUpAt)).toISOString();
  tellOf(flow, 'subscription.cardNeeded', about, { period, amount, currency, until });
}
