import { BlockList, isIP } from 'node:net';

/** The only addresses from which the payment service sends events. */
export const SERVICE_SENDERS: readonly string[] = ['52.29.158.20', '3.124.65.163', '52.59.7.16'];

/**
 * Checks senders against a list of addresses and ranges (`203.0.113.0/24`).
 * @throws Error that names every invalid entry, and for an empty list
 */
export function senderCheck(allowed: readonly string[]): (sender: string | undefined) => boolean {
  if (allowed.length === 0)
    throw new Error(
      'allowed senders: none, so that every event is refused; leave the list out to take them from anybody',
    );
  const list = new BlockList();
  const faults = allowed.filter((entry) => !addTo(list, entry));
  if (faults.length > 0) {
    throw new Error(`allowed senders: ${faults.join(', ')}: use addresses and ranges such as 203.0.113.0/24`);
  }
  return (sender = '') => {
    const address = withoutPort(sender);
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
  };
}

/** Some proxies write the sender's port too, as Azure's Application Gateway does: `203.0.113.7:51234`. */
function withoutPort(sender: string): string {
  const [, v4, v6] = /^(?:([\d.]+):\d{1,5}|\[([0-9a-fA-F.:]+)\](?::\d{1,5})?)$/.exec(sender) ?? [];
  return v4 ?? v6 ?? sender;
}

/** True for a valid address or range. */
export function isAddressRange(entry: string): boolean {
  return addTo(new BlockList(), entry);
}

/** True for a valid address or range that is not every address: then a sender could say of itself where it is. */
export function isRangeOfProxies(entry: string): boolean {
  return isAddressRange(entry) && !/\/0+$/.test(entry);
}

function addTo(list: BlockList, entry: string): boolean {
  const [, address = '', bits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const family = isIP(address);
  if (family === 0) return false;
  const most = family === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits);
  if (prefix > most) return false;
  list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  return true;
}
