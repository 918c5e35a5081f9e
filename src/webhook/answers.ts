import type { EventResult, WebhookMetrics } from './metrics.js';
import { type Rejection, REJECTION_STATUS } from './read-request.js';

export interface WebhookLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface WebhookResponse {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: { result: string } | { error: string };
}

const RETRY_AFTER_SECONDS = '5';

/** What helps to mend a refusal. Anybody can have sent it: nothing is proven. */
interface Refused {
  /** For the sender. Never of a 401. */
  message?: string | undefined;
  address?: string | undefined;
  appId?: string | undefined;
}

/** Of what anybody can send, so much is logged. */
const LONGEST_LOGGED = 100;

/** Logs at most one line per reason and second, because refusals cost a sender nothing. All are counted. */
export function rejecter(
  metrics: WebhookMetrics,
  logger: WebhookLogger,
): (reason: Rejection, refused?: Refused) => WebhookResponse {
  const quietUntil = new Map<Rejection, number>();
  const unlogged = new Map<Rejection, number>();
  return (reason, { message = '', address, appId } = {}) => {
    metrics.rejected(reason);
    const now = performance.now();
    const silenced = unlogged.get(reason) ?? 0;
    if (now < (quietUntil.get(reason) ?? 0)) {
      unlogged.set(reason, silenced + 1);
    } else {
      quietUntil.set(reason, now + 1000);
      unlogged.set(reason, 0);
      // `count`: refusals that this line covers. Address and app id are those of the last.
      const of = {
        ...(address !== undefined && { address: address.slice(0, LONGEST_LOGGED) }),
        ...(appId !== undefined && { appId: appId.slice(0, LONGEST_LOGGED) }),
      };
      logger.warn({ reason, count: silenced + 1, ...of }, 'Webhook refused');
    }
    const status = REJECTION_STATUS[reason];
    // Same text for every 401, so that a forger can't tell which check failed.
    return { status, headers: {}, body: { error: status === 401 ? 'not authorized' : message } };
  };
}

/** 2xx if the event is durable or of no use to any flow. After any other status the service sends it again. */
export function answer(result: EventResult): WebhookResponse {
  switch (result) {
    case 'delivered':
    case 'late':
    case 'foreign':
    case 'foreignDisputed':
    case 'parked':
    case 'unrouted':
      return { status: 200, headers: {}, body: { result } };
    case 'unavailable':
    case 'overloaded':
      return { status: 503, headers: { 'retry-after': RETRY_AFTER_SECONDS }, body: { error: 'send it again' } };
    default:
      return result satisfies never;
  }
}
