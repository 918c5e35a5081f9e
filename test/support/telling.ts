import type { Post } from '../../activities/notifications.js';
import type { NotificationType } from '../../src/contract/notifications.js';
import type { NotifySettings } from '../../src/security/notify-settings.js';

/** Signs notifications to merchants. */
export const NOTIFY_SECRET = 'whsec_YSBzZWNyZXQgdGhhdCBvbmx5IHRlc3RzIGhhdmU=';

/** Any address that a flow names is told, and those given of the unit `default`. */
export function tellingOf(
  endpoints: readonly { url: string; types?: readonly NotificationType[] }[] = [],
  secrets: readonly string[] = [NOTIFY_SECRET],
): NotifySettings {
  const unit = { endpoints: endpoints.map((endpoint) => ({ ...endpoint, secrets })), secrets };
  const hosts = ['127.0.0.1', 'merchant.test'];
  return { units: new Map([['default', unit]]), hosts, overHttp: true, toPrivate: true };
}

/** Through the network of the test. */
export const postByFetch: Post = async (url, { headers, body }) =>
  (await fetch(url, { method: 'POST', redirect: 'manual', headers, body })).status;
