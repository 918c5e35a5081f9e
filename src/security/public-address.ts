import { lookup as resolve, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Addresses that name no host of the public internet: own, private, shared, link-local, reserved, for documentation. */
const NOT_PUBLIC = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

const notPublic = new BlockList();
for (const range of NOT_PUBLIC) {
  const [address = '', bits] = range.split('/');
  notPublic.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/** False for a name, which says nothing before it is resolved. */
export function isNotPublic(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && notPublic.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** As {@link isNotPublic}, of the host of a URL, where IPv6 has brackets. */
export function isNotPublicHost(hostname: string): boolean {
  return isNotPublic(hostname.replace(/^\[(.*)\]$/, '$1'));
}

/**
 * Resolves a name for a connection, and refuses it if any of its addresses is not public: checked here, because the
 * connection goes to the very address that was checked, whatever the name resolves to a moment later.
 */
export const lookupPublic: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) return callback(error, [], undefined);
    const addresses = found as LookupAddress[];
    const hidden = addresses.find(({ address }) => isNotPublic(address));
    if (hidden !== undefined) return callback(notPublicError(hostname, hidden.address), [], undefined);
    if (options.all === true) return callback(null, addresses);
    const [first] = addresses;
    return callback(null, first?.address ?? '', first?.family);
  });
};

function notPublicError(hostname: string, address: string): Error {
  return new Error(`${hostname} is ${address}, which is no public address; HOLDFAST_NOTIFY_PRIVATE=1 allows those`);
}
