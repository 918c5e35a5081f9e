import type { GetRedirectionCall, PaymentCall } from '../src/contract/activities.js';
import type { RedirectionRecord } from '../src/contract/records.js';
import type { ActivityDeps } from './deps.js';
import { providerFor } from './deps.js';
import { readCall, readOptions } from './read-call.js';
import { redirectionRecord } from './records.js';

/** `GET /payments/{payment_id}/redirections/{redirection_id}` */
export async function getRedirection(deps: ActivityDeps, call: GetRedirectionCall): Promise<RedirectionRecord> {
  const provider = providerFor(deps, call.businessUnit);
  return await readCall(async () => {
    const { data, requestId } = await provider.getRedirection(call.paymentId, call.redirectionId, readOptions());
    return redirectionRecord(data, requestId);
  });
}

/** `GET /payments/{payment_id}/redirections` */
export async function listRedirections(deps: ActivityDeps, call: PaymentCall): Promise<RedirectionRecord[]> {
  const provider = providerFor(deps, call.businessUnit);
  return await readCall(async () => {
    const { data, requestId } = await provider.listRedirections(call.paymentId, readOptions());
    return data.map((redirection) => redirectionRecord(redirection, requestId));
  });
}
