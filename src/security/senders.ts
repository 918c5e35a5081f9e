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
  return (sender) => {
    const family = sender === undefined ? 0 : isIP(sender);
    if (sender === undefined || family === 0) return false;
    return list.check(sender, family === 4 ? 'ipv4' : 'ipv6');
  };
}

/** True for a valid address or range. */
export function isAddressRange(entry: string): boolean {
  return addTo(new BlockList(), entry);
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
