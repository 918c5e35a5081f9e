import { timingSafeEqual } from 'node:crypto';
import type { TransactionEvent } from '../contract/messages.js';

/** What an event of version 1.0.1 or older says: where to look, and nothing of what is there. */
export interface LegacyPointer {
  eventType: string;
  created: string;
  paymentId: string;
  /** From 1.0.1 on. */
  transactionId?: string;
  href?: string;
}

const EVENT_TYPE = /^payment\.[a-z-]{1,40}\.[a-z-]{1,40}$/;
const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;
const RESOURCE = /^\/payments\/([0-9a-fA-F-]{36})(?:\/[a-z-]{1,40}\/([0-9a-fA-F-]{36}))?$/;

/** The key is written both ways. Undefined when it is missing, or the two differ. */
export function legacyAppId(body: Readonly<Record<string, unknown>>): string | undefined {
  const appIds = ['app_id', 'app-id'].filter((name) => Object.hasOwn(body, name)).map((name) => body[name]);
  const [appId] = appIds;
  return typeof appId === 'string' && appId !== '' && appIds.every((other) => other === appId) ? appId : undefined;
}

/**
 * Reads the older body. Nothing in it is signed, so that only what has exactly the known form is taken: these values
 * reach paths of requests and ids of workflows.
 */
export function readPointer(body: Readonly<Record<string, unknown>>): LegacyPointer | { fault: string } {
  const { event_type: eventType, created, resource } = body;
  if (typeof eventType !== 'string' || !EVENT_TYPE.test(eventType)) return { fault: 'event_type is not one of ours' };
  if (typeof resource !== 'object' || resource === null) return { fault: 'resource must be an object' };
  const { id, action_id: actionId, href } = resource as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || !UUID.test(id)) return { fault: 'resource.id must be a UUID' };
  if (actionId != null && (typeof actionId !== 'string' || !UUID.test(actionId))) {
    return { fault: 'resource.action_id must be a UUID' };
  }
  if (href != null && (typeof href !== 'string' || href.length > 500))
    return { fault: 'resource.href must be an address' };
  return {
    eventType,
    created: typeof created === 'string' ? created.slice(0, 40) : '',
    paymentId: id,
    ...(typeof actionId === 'string' && { transactionId: actionId }),
    ...(typeof href === 'string' && { href }),
  };
}

/** Whether `digest` is the body's SHA-256, in hex or base64. It proves nothing but that the body arrived whole. */
export function digestFits(digest: string, bodyHash: string): boolean {
  const given = Buffer.from(digest, /^[0-9a-fA-F]{64}$/.test(digest) ? 'hex' : 'base64');
  const expected = Buffer.from(bodyHash, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/**
 * The ids in `href`, or a fault. No request is ever made to it: it is taken apart, and what it names is read from the
 * configured service. An address elsewhere shows that the sender is not who it claims to be.
 */
export function followHref(pointer: LegacyPointer, apiBaseUrl: string): { transactionId?: string } | { fault: string } {
  const { href, paymentId, transactionId } = pointer;
  if (href === undefined) return transactionId === undefined ? {} : { transactionId };
  const elsewhere = { fault: 'resource.href is not an address of the payment service' };
  if (!URL.canParse(href)) return elsewhere;
  const base = new URL(apiBaseUrl);
  const url = new URL(href);
  if (url.origin !== base.origin || url.username !== '' || url.password !== '') return elsewhere;
  const prefix = base.pathname.replace(/\/+$/, '');
  // The text as it came and as it was understood: an address that changes by being read is not taken.
  if (url.href !== href || url.search !== '' || url.hash !== '' || !url.pathname.startsWith(`${prefix}/`))
    return elsewhere;
  const [, payment, transaction = transactionId] = RESOURCE.exec(url.pathname.slice(prefix.length)) ?? [];
  if (payment !== paymentId || (transactionId !== undefined && transaction !== transactionId)) {
    return { fault: 'resource.href names another resource than resource.id and resource.action_id' };
  }
  return transaction === undefined ? {} : { transactionId: transaction };
}

/** Never trusted, and without a status: all that a flow can make of it is to look. */
export function legacyEvent(
  pointer: LegacyPointer,
  origin: { bodyHash: string; businessUnit: string },
): TransactionEvent {
  const { eventType, created, paymentId, transactionId } = pointer;
  return {
    hash: origin.bodyHash,
    eventType,
    created,
    businessUnit: origin.businessUnit,
    paymentId,
    ...(transactionId !== undefined && { transactionId }),
    trusted: false,
  };
}
