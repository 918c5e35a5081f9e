import type { NotificationType } from '../../src/contract/notifications.js';
import { tell } from '../kit/outbox.js';
import type { Billing } from './state.js';

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
  tell(flow, type, about, { subscription: flow.input.reference, ...data });
}
