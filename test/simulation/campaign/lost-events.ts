import { setTimeout as sleep } from 'node:timers/promises';
import { namesNoOwner, type ProfileUnit } from '../../../tools/stack/profile-units.js';
import type { LedgerEntry } from '../../../tools/audit/ledger.js';
import type { TakenEvent } from '../world/webhook-side.js';
import type { World } from '../world/world.js';

const HOUR_MS = 3_600_000;
/** The service sends an event for a day. */
const LONGEST_HOURS = 30;
/** Of no use to any flow: nothing has been done to the payment yet. */
const OF_NO_USE = 'payment.payment.create';

/** Waits until the service sends nothing any more. One sentence for each event that nobody has taken. */
export async function undelivered({ control }: Pick<World, 'control'>): Promise<string[]> {
  for (let hours = 0; hours < LONGEST_HOURS; hours += 1) {
    if ((await control.deliveries({ status: 'pending' })).length === 0) break;
    await sleep(HOUR_MS);
  }
  const left = [
    ...(await control.deliveries({ status: 'pending' })),
    ...(await control.deliveries({ status: 'given_up' })),
  ];
  return left.map(
    ({ payment_id: paymentId, reconciliation_id: reference, event_type: type, status, last_status: code }) =>
      `${reference ?? paymentId}: event ${type} is ${status}, last answered ${code}`,
  );
}

/**
 * One sentence for each event that the webhook handler has dropped as foreign or of no use, although its unit's service
 * says whose the payment is. An event of a payment that no ledger has is forged, and one that another program has made
 * is nobody's.
 */
export function dropped(
  taken: readonly TakenEvent[],
  units: readonly ProfileUnit[],
  ledger: readonly LedgerEntry[],
): string[] {
  const silent = new Set(units.filter(namesNoOwner).map(({ name }) => name));
  const first = new Map(ledger.toReversed().map((entry) => [entry.payment_id, entry]));
  const isOurs = (paymentId: string): boolean => /^(payment|risk)-/.test(first.get(paymentId)?.idempotency_key ?? '');
  return taken
    .filter(
      ({ result, eventType }) => result.startsWith('foreign') || (result === 'unrouted' && eventType !== OF_NO_USE),
    )
    .filter(({ businessUnit, paymentId = '' }) => !silent.has(businessUnit) && isOurs(paymentId))
    .map(
      ({ paymentId, eventType, result, businessUnit }) =>
        `${paymentId}: event ${eventType} of ${businessUnit} was dropped as ${result}`,
    );
}
