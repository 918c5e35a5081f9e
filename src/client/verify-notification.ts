import type { Notification } from '../contract/notifications.js';
import { isNotificationSecret, isSigned } from '../security/notification-signature.js';

/** Body of a notification whose signature has been verified. */
export interface VerifiedNotification extends Omit<Notification, 'at'> {
  /** ISO 8601 UTC: when it happened. */
  timestamp: string;
  /** The flow that tells it; `sequence` counts what this flow has told. */
  workflowId: string;
  businessUnit: string;
}

export interface ReceivedNotification {
  /** Headers of the request, their names in lower case: `req.headers` of Node, or an object made of `Headers`. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as it came, byte by byte: parsed and written again, it would not match its signature. */
  body: string | Uint8Array;
}

export interface VerifyOptions {
  /** `whsec_…`: one, or during a rotation the old and the new one. */
  secrets: string | readonly string[];
  /** How old it may be, and how far ahead its clock. Default 300 s. */
  toleranceSeconds?: number;
  /** Epoch ms. Default: now. */
  now?: number;
}

/** A notification that must not be believed. `message` says why. */
export class NotificationRejected extends Error {
  override readonly name = 'NotificationRejected';
}

/**
 * Verifies a notification, and returns its content. The same one may come again: its `id` is the same.
 * @throws NotificationRejected if it lacks a header, is too old, or no secret has signed it; Error if there is no secret,
 * or one is none: everybody can sign by an empty one
 */
export function verifyNotification(
  { headers, body }: ReceivedNotification,
  { secrets, toleranceSeconds = 300, now = Date.now() }: VerifyOptions,
): VerifiedNotification {
  const all = typeof secrets === 'string' ? [secrets] : secrets;
  const unusable = all.findIndex((secret) => !isNotificationSecret(secret));
  if (all.length === 0 || unusable >= 0)
    throw new Error(
      `secrets: number ${unusable + 1} of ${all.length} is no secret (whsec_ and 24 to 64 bytes in base64)`,
    );
  const header = (name: string): string => {
    const value = headers[name];
    if (typeof value !== 'string' || value === '') throw new NotificationRejected(`header ${name} is missing`);
    return value;
  };
  const id = header('webhook-id');
  const timestamp = header('webhook-timestamp');
  const signature = header('webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp)) throw new NotificationRejected('header webhook-timestamp is no time in seconds');
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  if (!isSigned(signature, all, { id, timestamp: Number(timestamp), body: text }))
    throw new NotificationRejected('no secret of ours has signed it');
  const seconds = Math.round(now / 1_000) - Number(timestamp);
  if (Math.abs(seconds) > toleranceSeconds)
    throw new NotificationRejected(`it was signed ${seconds} s ago, and ${toleranceSeconds} s are allowed`);
  return JSON.parse(text) as VerifiedNotification;
}
