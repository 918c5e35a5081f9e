import { log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { Agent, fetch as fetchOver } from 'undici';
import { messageOf } from '../src/contract/message-of.js';
import {
  ADDRESS_GONE,
  NO_ENDPOINT,
  type DeliverNotificationCall,
  type EndpointsCall,
  type NotificationActivities,
} from '../src/contract/notifications.js';
import type { EnginePort } from '../src/contract/engine-port.js';
import { createPlaces } from '../src/domain/places.js';
import { notificationHeaders } from '../src/security/notification-signature.js';
import { isAllowedHost, type NotifySettings, shownUrl, urlFaults } from '../src/security/notify-settings.js';
import { isNotPublicHost, lookupPublic } from '../src/security/public-address.js';
import { buildActivities, requireDecoded } from './build-activities.js';

export interface NotificationDeps {
  engine: Pick<EnginePort, 'handOver'>;
  notifications: NotifySettings;
  /** Sends one POST. Default: over connections that refuse what `toPrivate` does not allow. */
  post?: Post;
  now(): number;
}

/** Resolves with the status of the answer. */
export type Post = (url: string, request: { headers: Record<string, string>; body: string }) => Promise<number>;

const REQUEST_MS = 10_000;
/** Most of a worker at a time, of hand-overs too: an endpoint that hangs holds its place as long as a request may take. */
export const DELIVERY_PLACES = 100;

export function createNotificationActivities(deps: NotificationDeps): NotificationActivities {
  const post = deps.post ?? postTo(deps.notifications);
  const takePlace = createPlaces(DELIVERY_PLACES, deps.notifications.units.size);
  return buildActivities<NotificationDeps, NotificationActivities>(
    deps,
    {
      handOver: ({ engine }, call) => engine.handOver(call),
      endpointsOf: async (all, call) => endpointsOf(all.notifications, call, all.now()),
      deliverNotification: async (_deps, call) => {
        const giveBack = takePlace(call.businessUnit);
        if (giveBack === undefined) throw noPlace(call.businessUnit);
        try {
          await deliver(deps, post, call);
        } finally {
          giveBack();
        }
      },
    },
    requireDecoded,
  );
}

/**
 * Reasons why a flow's own address is not told anything.
 * @param settings undefined: this worker tells nobody
 */
export function notifyFaults(settings: NotifySettings | undefined, businessUnit: string, url: string): string[] {
  if (settings === undefined) return ['notify: this worker sends no notifications; leave notify out'];
  const faults = urlFaults(settings, url).map((fault) => `notify.url: ${shownUrl(url)} ${fault}`);
  if ((settings.units.get(businessUnit)?.secrets ?? []).length === 0) {
    faults.push(
      'notify: nothing could be signed, as neither the business unit nor HOLDFAST_NOTIFY_SECRET has a secret; set one, or leave notify out',
    );
  }
  const { hostname } = new URL(url);
  if (!isAllowedHost(settings.hosts, url)) {
    faults.push(`notify.url: HOLDFAST_NOTIFY_HOSTS does not name ${hostname}; add it there, or leave notify out`);
  } else if (!settings.toPrivate && isNotPublicHost(hostname)) {
    faults.push(`notify.url: ${hostname} is no public address; HOLDFAST_NOTIFY_PRIVATE=1 allows those`);
  }
  return faults;
}

function endpointsOf({ units }: NotifySettings, { businessUnit, type, url, at }: EndpointsCall, now: number): string[] {
  const { endpoints = [] } = units.get(businessUnit) ?? {};
  if (endpoints.length === 0 && url === undefined) waitForEndpoint(businessUnit, now - Date.parse(at));
  const wanting = endpoints.filter(({ types }) => types === undefined || types.includes(type));
  return [...new Set([...wanting.map((endpoint) => endpoint.url), ...(url === undefined ? [] : [url])])];
}

/** ms. Workers are replaced within it. */
const DEPLOY_MS = 3_600_000;
const RETRY_MS = 300_000;

function notReplacedYet(why: string): ApplicationFailure {
  return ApplicationFailure.create({ message: why, type: 'NoEndpoint', nextRetryDelay: RETRY_MS });
}

/** A worker that has the unit's first endpoint has said that there is one: this one may not be replaced yet. */
function waitForEndpoint(businessUnit: string, ageMs: number): never {
  const why = `business unit "${businessUnit}" has no endpoint here, and no flow names one`;
  if (ageMs < DEPLOY_MS) throw notReplacedYet(why);
  log.warn(`A notification is told nobody: ${why}`);
  throw ApplicationFailure.nonRetryable(why, NO_ENDPOINT);
}

/** Tried again like what an endpoint did not answer in time: of several units none may hold up what others are told. */
function noPlace(businessUnit: string): ApplicationFailure {
  const why = `it was not sent yet: half of the notifications under way in this worker are of business unit "${businessUnit}"`;
  return ApplicationFailure.retryable(why, 'NoPlace');
}

/**
 * Sends one notification, with the headers of Standard Webhooks. Repeats have the same `webhook-id`.
 * @throws ApplicationFailure (retried, unless its type is `ADDRESS_GONE`) after any answer but a 2xx
 */
async function deliver(
  deps: NotificationDeps,
  post: Post,
  { workflowId, businessUnit, url, notification }: DeliverNotificationCall,
): Promise<void> {
  const { id, type, at, sequence, data } = notification;
  const secrets = secretsFor(deps.notifications, { businessUnit, url, ageMs: deps.now() - Date.parse(at) });
  const body = JSON.stringify({ id, type, timestamp: at, sequence, workflowId, businessUnit, data });
  const headers = {
    'content-type': 'application/json',
    ...notificationHeaders(secrets, { id, timestamp: Math.floor(deps.now() / 1_000), body }),
  };
  const status = await posted(post, url, { headers, body });
  if (status >= 200 && status < 300) return;
  const why = `it answered ${status}`;
  if (status === 410) throw ApplicationFailure.nonRetryable(why, ADDRESS_GONE);
  throw ApplicationFailure.retryable(why, 'NotTaken');
}

interface Addressed {
  businessUnit: string;
  url: string;
  /** How long ago it was told. */
  ageMs: number;
}

/** @throws ApplicationFailure if nothing may be sent to the address; `ADDRESS_GONE` once no worker can be older than it */
function secretsFor(settings: NotifySettings, { businessUnit, url, ageMs }: Addressed): readonly string[] {
  const unit = settings.units.get(businessUnit);
  const endpoint = unit?.endpoints.find((one) => one.url === url);
  const faults = endpoint === undefined ? notifyFaults(settings, businessUnit, url) : [];
  const why = faults.join('; ');
  if (why !== '' && ageMs < DEPLOY_MS) throw notReplacedYet(why);
  if (why !== '') throw ApplicationFailure.nonRetryable(why, ADDRESS_GONE);
  return endpoint?.secrets ?? unit?.secrets ?? [];
}

async function posted(post: Post, url: string, request: Parameters<Post>[1]): Promise<number> {
  try {
    return await post(url, request);
  } catch (error) {
    // The error of `fetch` says only that it failed; its cause says why.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = messageOf(cause);
    throw ApplicationFailure.retryable(`it could not be reached: ${why}`, 'NotTaken');
  }
}

function postTo({ toPrivate }: NotifySettings): Post {
  const dispatcher = new Agent(toPrivate ? {} : { connect: { lookup: lookupPublic } });
  return async (url, { headers, body }) => {
    const { hostname } = new URL(url);
    // An address in digits is not looked up.
    if (!toPrivate && isNotPublicHost(hostname)) {
      throw new Error(`${hostname} is no public address; HOLDFAST_NOTIFY_PRIVATE=1 allows those`);
    }
    const signal = AbortSignal.timeout(REQUEST_MS);
    const answer = await fetchOver(url, { method: 'POST', redirect: 'manual', headers, body, signal, dispatcher });
    await answer.body?.cancel();
    return answer.status;
  };
}
