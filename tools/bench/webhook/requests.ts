import { createHash, randomUUID } from 'node:crypto';
import { sign, signedText } from '../../../src/webhook/signature.js';

export const APP_ID = 'bench-app';
export const KEY = 'bench-private-key';
export const EVENT_TYPE = 'payment.charge.update';

export interface SignedRequest {
  body: string;
  headers: Record<string, string>;
  hash: string;
}

/** A complete, unique charge event for the flow of this reference. */
export function signedRequest(reference: string): SignedRequest {
  const paymentId = randomUUID();
  const created = new Date().toISOString();
  const body = {
    id: `${paymentId}-${created}-${randomUUID()}`,
    account_id: randomUUID(),
    payment_id: paymentId,
    created,
    app_id: APP_ID,
    data: {
      id: randomUUID(),
      created: String(Date.now()),
      result: { status: 'Succeed', category: '', sub_category: '' },
      provider_data: {
        provider_name: 'MockProcessor',
        response_code: '00',
        description: 'APPROVED',
        raw_response: '{}',
      },
      payment_method: {
        type: 'tokenized',
        token: randomUUID(),
        last_4_digits: '1111',
        vendor: 'VISA',
        card_type: 'CREDIT',
      },
      reconciliation_id: reference,
      amount: 1095,
      currency: 'USD',
    },
  };
  const text = signedText(EVENT_TYPE, body);
  return {
    body: JSON.stringify(body),
    hash: createHash('sha256').update(text).digest('hex'),
    headers: {
      'content-type': 'application/json',
      'event-type': EVENT_TYPE,
      version: '1.3.0',
      'x-svc-env': 'test',
      'x-svc-request-id': randomUUID(),
      signature: sign(text, KEY),
    },
  };
}
