import { createHmac } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { ADDRESS_GONE, NOTICE_REFUSED, type NotifyCall } from '../src/contract/billing-activities.js';
import { FAILURE_TYPES } from '../src/contract/names.js';
import type { ParsedSubscriptionInput } from '../src/contract/subscription.js';

export interface NotifyDeps {
  /** Secret that signs notifications; undefined if none is configured. */
  notifySecret?: string | undefined;
  /** Whether http addresses are allowed; a live environment sends to https addresses only. */
  notifyOverHttp: boolean;
  now(): number;
}

const REQUEST_MS = 10_000;

/** Fewer than a worker's concurrent activities, so that addresses that do not answer don't hold up bills. */
const MOST_AT_ONCE = 8;
const BUSY_MS = 15_000;
const MOST_BUSY_MS = 3_600_000;

/** Returns the reasons why this installation can't notify the address. */
export function notifyFaults(
  { notifySecret, notifyOverHttp }: NotifyDeps,
  { notify }: Pick<ParsedSubscriptionInput, 'notify'>,
): string[] {
  if (notify === undefined) return [];
  const faults: string[] = [];
  if (notifySecret === undefined) {
    faults.push(
      'notify: no HOLDFAST_NOTIFY_SECRET is configured, so that nothing could be signed; set it, or leave notify out',
    );
  }
  if (!notifyOverHttp && !notify.url.startsWith('https:')) {
    faults.push(`notify.url: ${notify.url} is not an https address, which live notifications need`);
  }
  const { username, password } = new URL(notify.url);
  if (username !== '' || password !== '') {
    faults.push('notify.url: carries a user name or password, with which nothing can be sent; leave them out');
  }
  return faults;
}

/** Creates a sender that defers a notification while {@link MOST_AT_ONCE} others are in progress. */
export function createNotifier(deps: NotifyDeps): (call: NotifyCall) => Promise<void> {
  let underWay = 0;
  return async (call) => {
    if (underWay >= MOST_AT_ONCE) {
      throw ApplicationFailure.create({
        message: `${MOST_AT_ONCE} notifications are under way; this one is put off`,
        type: 'NotTaken',
        // The delay grows with each attempt: many deferred notifications would use up the rate limit that bills need.
        nextRetryDelay: Math.min(MOST_BUSY_MS, BUSY_MS * activityInfo().attempt),
      });
    }
    underWay += 1;
    try {
      await notifyMerchant(deps, call);
    } finally {
      underWay -= 1;
    }
  };
}

/** About 2.5 minutes of attempts: during a deploy, the merchant's address may briefly answer 404. */
const TRIES_OF_REFUSED = 6;

/** 4xx statuses that don't depend on the content: a later attempt may succeed. */
const LATER: readonly number[] = [408, 429];

/**
 * Sends one notification: JSON, with `holdfast-signature: t=<epoch s>,v1=<hex HMAC-SHA256 of "t.body">`. The engine
 * retries after any answer but a 2xx, so the merchant may get it twice and detects that by its `id`. A 4xx refuses the
 * content: it is given up after {@link TRIES_OF_REFUSED} attempts, so that it doesn't hold up later notifications.
 * @throws Error (retried); `NOTICE_REFUSED` and `ADDRESS_GONE` (not retried)
 */
async function notifyMerchant(deps: NotifyDeps, { url, businessUnit, notice }: NotifyCall): Promise<void> {
  const { notifySecret } = deps;
  if (notifySecret === undefined) {
    throw ApplicationFailure.retryable('HOLDFAST_NOTIFY_SECRET is not configured', FAILURE_TYPES.credentialsRejected);
  }
  const body = JSON.stringify({ ...notice, businessUnit });
  const at = Math.floor(deps.now() / 1_000);
  const signature = createHmac('sha256', notifySecret).update(`${at}.${body}`).digest('hex');
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'error',
    headers: { 'content-type': 'application/json', 'holdfast-signature': `t=${at},v1=${signature}` },
    body,
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  await answer.body?.cancel();
  if (answer.ok) return;
  const { status } = answer;
  const why = `the merchant's address answered ${status}`;
  if (status === 410) throw ApplicationFailure.nonRetryable(why, ADDRESS_GONE);
  const isRefused = status >= 400 && status < 500 && !LATER.includes(status);
  if (isRefused && activityInfo().attempt >= TRIES_OF_REFUSED) {
    throw ApplicationFailure.nonRetryable(why, NOTICE_REFUSED);
  }
  throw ApplicationFailure.retryable(why, 'NotTaken');
}
