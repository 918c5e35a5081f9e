import type { Sandbox } from './context.js';
import { emitPaymentEvent } from './events.js';
import type { Payment } from './records.js';

/**
 * After a payment's state changed: waits for the end of the hold of an authorized one, at which the provider lets go
 * of the funds. A unit may be set so that nobody is told of it.
 */
export function watchHold(sandbox: Sandbox, { id, appId, status, holdUntil }: Payment): void {
  const told = sandbox.store.units.get(appId)?.profile.expired_hold === 'voids_payment';
  if (status === 'Authorized' && holdUntil !== undefined && told) {
    sandbox.schedule.at(jobKey(id), holdUntil, () => expireHold(sandbox, id));
  } else {
    sandbox.schedule.cancel(jobKey(id));
  }
}

/** At boot: holds go on; what ended meanwhile ends at once. */
export function resumeHolds(sandbox: Sandbox): void {
  for (const payment of sandbox.store.payments.values()) {
    if (payment.status === 'Authorized') watchHold(sandbox, payment);
  }
}

function expireHold(sandbox: Sandbox, paymentId: string): void {
  const { store, clock } = sandbox;
  const before = store.payments.get(paymentId);
  const unit = store.units.get(before?.appId ?? '');
  if (before?.status !== 'Authorized' || unit === undefined) return;
  const requestId = store.transactionsOf(before).find(({ kind }) => kind === 'authorization')?.requestId ?? '';
  const payment: Payment = { ...before, status: 'Voided', modified: clock.now() };
  store.transaction(() => {
    store.payments.put(payment);
    emitPaymentEvent(sandbox, 'update', { unit, payment, requestId });
  });
}

function jobKey(paymentId: string): string {
  return `hold:${paymentId}`;
}
