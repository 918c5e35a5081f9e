import { activityInfo } from '@temporalio/activity';
import { createHmac } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { ParsedSubscriptionInput } from '../../src/contract/subscription.js';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import type { NotifyCall } from '../../src/contract/billing-activities.js';
import { ADDRESS_GONE, NOTICE_REFUSED } from '../../src/contract/billing-activities.js';

export interface NotifyDeps {
  /** Signs what is sent to merchants; undefined where none is configured. */
  notifySecret?: string | undefined;
  /** Live environments send to https addresses only. */
  notifyOverHttp: boolean;
  now(): number;
}

const REQUEST_MS = 10_000;

/** Fewer than the activities that a worker runs at once: addresses that do not answer must not hold up bills. */
const MOST_AT_ONCE = 8;
const BUSY_MS = 15_000;
const MOST_BUSY_MS = 3_600_000;

/** Why this installation can't notify the address. */
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

/** Sends notifications, and puts off what comes while enough are under way. */
export function createNotifier(deps: NotifyDeps): (call: NotifyCall) => Promise<void> {
  let underWay = 0;
  return async (call) => {
    if (underWay >= MOST_AT_ONCE) {
      throw ApplicationFailure.create({
        message: `${MOST_AT_ONCE} notifications are under way; this one is put off`,
        type: 'NotTaken',
        // Longer each time: a queue full of these would take the rate that bills are due.
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

/** About two and a half minutes of tries: a deploy of the merchant's answers for a moment as if nothing were there. */
const TRIES_OF_REFUSED = 6;

/** What will be answered otherwise if it is sent later, whatever it says. */
const LATER: readonly number[] = [408, 429];

/**
 * Sends one notification: JSON, with `holdfast-signature: t=<epoch s>,v1=<hex HMAC-SHA256 of "t.body">`. Taken when
 * the answer is a 2xx; anything else is tried again by the engine, so that the merchant may get it twice: by its
 * `id` it tells them apart. One that is refused for what it says, as a 4xx does, must not hold up those that follow.
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
