import { type NotifySettings, shownUrl, type UnitNotifications, urlFaults } from '../security/notify-settings.js';
import { isNotPublicHost } from '../security/public-address.js';
import type { ReadableUnit } from './business-units.js';

/** What the notifications of a configuration depend on. */
interface Notifying {
  businessUnits: ReadonlyMap<string, ReadableUnit>;
  notifySecrets?: readonly string[];
  notifyHosts: readonly string[];
  notifyPrivate: boolean;
  environment: 'test' | 'live';
}

export function notifySettings(config: Notifying): NotifySettings {
  const { businessUnits, notifySecrets = [], notifyHosts, notifyPrivate, environment } = config;
  const units = [...businessUnits.values()].map(({ name, notifications }): [string, UnitNotifications] => {
    const secrets = notifications?.secrets ?? notifySecrets;
    const endpoints = (notifications?.endpoints ?? []).map(({ url, types, secrets: own }) => ({
      url,
      types,
      secrets: own ?? secrets,
    }));
    return [name, { endpoints, secrets }];
  });
  return { units: new Map(units), hosts: notifyHosts, overHttp: environment !== 'live', toPrivate: notifyPrivate };
}

/** Faults of the endpoints in a configuration: each names its unit. */
export function endpointFaults(settings: NotifySettings): string[] {
  return [...settings.units].flatMap(([unit, { endpoints }]) =>
    endpoints.flatMap(({ url, secrets }, at) => {
      const place = placeOf(unit, url);
      const { href, hostname } = new URL(url);
      const others = endpoints.slice(0, at).filter((before) => new URL(before.url).href === href);
      const isTwice = others.some((before) => before.url !== url || before.secrets.join() !== secrets.join());
      return [
        // Each notification goes to an address once, signed with the secrets of the first.
        ...(isTwice
          ? [`${place} stands there twice with the same path; keep one, with all of its types and secrets`]
          : []),
        ...(!settings.toPrivate && isNotPublicHost(hostname)
          ? [
              `${place} is no public address, so that nothing is ever sent there; HOLDFAST_NOTIFY_PRIVATE=1 allows those`,
            ]
          : []),
        ...(secrets.length === 0
          ? [`${place} has no secret that signs; give it secrets, or set HOLDFAST_NOTIFY_SECRET`]
          : []),
        ...urlFaults(settings, url).map((fault) => `${place} ${fault}`),
      ];
    }),
  );
}

function placeOf(unit: string, url: string): string {
  return `${unit}: notifications: ${shownUrl(url)}`;
}

/** A secret that signs notifications, and where it stands in the business units. */
interface PlacedSecret {
  place: string;
  secret: string;
}

export function ownSecrets(units: ReadonlyMap<string, ReadableUnit>): PlacedSecret[] {
  return [...units.values()].flatMap(({ name, notifications: { endpoints = [], secrets = [] } = {} }) => [
    ...secrets.map((secret) => ({ place: `${name}: notifications: secrets`, secret })),
    ...endpoints.flatMap(({ url, secrets: own = [] }) => own.map((secret) => ({ place: placeOf(name, url), secret }))),
  ]);
}

export function secretsOfUnit({ endpoints, secrets }: UnitNotifications): string[] {
  return [...new Set([...secrets, ...endpoints.flatMap((endpoint) => endpoint.secrets)])];
}
