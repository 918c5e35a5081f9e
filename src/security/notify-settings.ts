import { isIPv6 } from 'node:net';
import type { NotificationType } from '../contract/notifications.js';

/** An address that is told of a business unit's flows. */
interface Endpoint {
  url: string;
  /** undefined: of everything. */
  types?: readonly NotificationType[] | undefined;
  /** Each of them signs. */
  secrets: readonly string[];
}

/** Who is told of the flows of a business unit. */
export interface UnitNotifications {
  endpoints: readonly Endpoint[];
  /** Of what goes to a flow's own address; empty: nothing does. */
  secrets: readonly string[];
}

/** How merchants are told. */
export interface NotifySettings {
  /** By the name of the business unit. */
  units: ReadonlyMap<string, UnitNotifications>;
  /** Hosts of the addresses that flows may name themselves, such as `shop.example` or `*.shop.example`. */
  hosts: readonly string[];
  /** Whether http addresses are allowed, which `live` never does. */
  overHttp: boolean;
  /** Whether addresses may be private. */
  toPrivate: boolean;
}

/** Why nothing may be sent to an address, whoever names it. */
export function urlFaults({ overHttp }: Pick<NotifySettings, 'overHttp'>, text: string): string[] {
  const url = new URL(text);
  return [
    ...(!overHttp && url.protocol !== 'https:' ? ['is not an https address, which live notifications need'] : []),
    ...(url.username !== '' || url.password !== ''
      ? ['carries a user name or password, with which nothing can be sent; leave them out']
      : []),
  ];
}

/** The address for a message or a log: its path and query may hold a token. */
export function shownUrl(text: string): string {
  return new URL(text).origin;
}

/**
 * An entry of the list as the host of a URL is spelt, which is compared with it: in small letters, IPv6 in brackets.
 * undefined for what is no host, as with a port: it would never match.
 */
export function allowedHost(entry: string): string | undefined {
  const [, below = '', name = ''] = /^(\*\.)?(.*)$/s.exec(entry) ?? [];
  const host = below === '' && isIPv6(name) ? `[${name}]` : name;
  const isHost = /^[A-Za-z0-9.-]+$/.test(host) || (below === '' && /^\[[0-9A-Fa-f:.]+\]$/.test(host));
  const url = `https://${host}/`;
  return isHost && URL.canParse(url) ? `${below}${new URL(url).hostname}` : undefined;
}

/** Whether the list allows the host of a flow's own address. */
export function isAllowedHost(hosts: readonly string[], text: string): boolean {
  const { hostname } = new URL(text);
  return hosts.some((allowed) =>
    allowed.startsWith('*.') ? hostname.endsWith(allowed.slice(1)) : hostname === allowed,
  );
}
