import { setTimeout as sleep } from 'node:timers/promises';
import type { ProfileUnit } from '../../stack/profile-units.js';

const TRY_AGAIN_MS = 250;

/**
 * Whether the service has this card on file for the customer of this reference, read as another program of the merchant
 * would. Faults hit these reads too, so they are retried until they succeed.
 */
export async function isOnFile(
  sandboxUrl: string,
  unit: ProfileUnit,
  customerReference: string,
  token: string,
): Promise<boolean> {
  const headers = headersOf(unit);
  const read = async (path: string): Promise<unknown> => {
    for (;;) {
      try {
        const answer = await fetch(new URL(path, sandboxUrl), { headers });
        if (answer.status === 404) return undefined;
        if (answer.ok) return await answer.json();
      } catch {
        // The reply was lost or is garbage.
      }
      await sleep(TRY_AGAIN_MS);
    }
  };
  const found = await read(`/customers?customer_reference=${encodeURIComponent(customerReference)}`);
  const [customer] = Array.isArray(found) ? (found as { id: string }[]) : [];
  return customer !== undefined && (await read(`/customers/${customer.id}/payment-methods/${token}`)) !== undefined;
}

/** Headers of another program that calls the service with the unit's credentials. */
function headersOf({ appId, privateKey }: ProfileUnit): Record<string, string> {
  return { 'app-id': appId, 'private-key': privateKey, 'x-svc-env': 'test', 'api-version': '1.3.0' };
}

/** Voids a payment in the service's back office, without a flow. The request may be lost. */
export async function voidInBackOffice(
  { sandboxUrl, unit }: { sandboxUrl: string; unit: ProfileUnit },
  paymentId: string,
  key: string,
): Promise<Response> {
  const headers = { ...headersOf(unit), 'idempotency-key': key, 'content-type': 'application/json' };
  return await fetch(new URL(`/payments/${paymentId}/voids`, sandboxUrl), { method: 'POST', headers, body: '{}' });
}
