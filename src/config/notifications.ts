import { type NotifySettings, shownUrl, type UnitNotifications, urlFaults } from '../security/notify-settings.js';
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
    endpoints.flatMap(({ url, secrets }) => {
      const at = `${unit}: notifications: ${shownUrl(url)}`;
      return [
        ...(secrets.length === 0
          ? [`${at} has no secret that signs; give it secrets, or set HOLDFAST_NOTIFY_SECRET`]
          : []),
        ...urlFaults(settings, url).map((fault) => `${at} ${fault}`),
      ];
    }),
  );
}

export function secretsOfUnit({ endpoints, secrets }: UnitNotifications): string[] {
  return [...new Set([...secrets, ...endpoints.flatMap((endpoint) => endpoint.secrets)])];
}
