import { createHmac, timingSafeEqual } from 'node:crypto';

/** Secrets as Standard Webhooks writes them: `whsec_` and the base64 of 24 to 64 bytes. */
export function isNotificationSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === base64;
}

/** What is signed. */
export interface SignedNotification {
  id: string;
  /** Epoch seconds. */
  timestamp: number;
  body: string;
}

/** The headers of a notification: one signature by each secret, so that either is enough while one replaces the other. */
export function notificationHeaders(secrets: readonly string[], signed: SignedNotification): Record<string, string> {
  return {
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${signatureOf(secret, signed)}`).join(' '),
  };
}

/** Whether one of the signatures in header `webhook-signature` is by one of the secrets. In constant time for each. */
export function isSigned(header: string, secrets: readonly string[], signed: SignedNotification): boolean {
  const given = header.split(' ').flatMap((part) => (part.startsWith('v1,') ? [Buffer.from(part.slice(3))] : []));
  const ours = secrets.map((secret) => Buffer.from(signatureOf(secret, signed)));
  return ours.some((one) => given.some((other) => other.length === one.length && timingSafeEqual(other, one)));
}

/** By Standard Webhooks: HMAC-SHA256 of `<id>.<timestamp>.<body>` under the secret's bytes, in base64. */
function signatureOf(secret: string, { id, timestamp, body }: SignedNotification): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
}
