import type { Sandbox } from './context.js';
import { emitPaymentEvent } from './events.js';
import type { Payment } from './records.js';

/**
 * Call after a payment's state changed. Schedules the end of an authorized payment's hold, when the provider releases
 * the funds. By its profile, a unit may not show that end.
 */
export function watchHold(sandbox: Sandbox, { id, appId, status, holdUntil }: Payment): void {
  const isShown = sandbox.store.units.get(appId)?.profile.expired_hold === 'voids_payment';
  if (status === 'Authorized' && holdUntil !== undefined && isShown) {
    sandbox.schedule.at(jobKey(id), holdUntil, () => expireHold(sandbox, id));
  } else {
    sandbox.schedule.cancel(jobKey(id));
  }
}

/** At boot: schedules the holds again; those that expired meanwhile end at once. */
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
