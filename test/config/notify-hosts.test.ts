import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.js';
import { isAllowedHost } from '../../src/security/notify-settings.js';
import { env, faultsOf } from './support.js';

const hostsOf = (text: string): readonly string[] => loadConfig(env({ HOLDFAST_NOTIFY_HOSTS: text })).notifyHosts;

test.each([
  ['Shop.Example', 'https://shop.example/hook'],
  ['shop.example', 'https://SHOP.example:8443/hook'],
  ['*.Shop.Example', 'https://hooks.shop.example/'],
  ['::1', 'http://[::1]:8080/hook'],
  ['[2001:DB8:0::1]', 'https://[2001:db8::1]/hook'],
  ['2001:db8::1', 'https://[2001:0db8::1]/hook'],
  ['10.0.0.1', 'https://10.0.0.1/hook'],
])('a host of notifications %s lets %s be told, however it is written', (entry, url) => {
  expect(isAllowedHost(hostsOf(`other.example,${entry}`), url)).toBe(true);
});

test('one lets no other host be told', () => {
  const hosts = hostsOf('shop.example,*.pay.example,::1');
  for (const host of ['evilshop.example', 'a.shop.example', 'pay.example', 'evilpay.example', '[::2]'])
    expect({ host, isAllowed: isAllowedHost(hosts, `https://${host}/`) }).toEqual({ host, isAllowed: false });
});

test.each(['shop.example:8443', '*.shop.example:443', '[::1]:8443', '*.::1', '[::1', 'fe80::1%eth0', '*', 'a b'])(
  'what would never match, as %s, is refused, and a port is said to be none of it',
  (entry) => {
    expect(faultsOf(() => hostsOf(entry))).toEqual([
      `HOLDFAST_NOTIFY_HOSTS: ${JSON.stringify(entry)} is no host, such as shop.example or *.shop.example; leave out scheme, ` +
        'port and path: a host counts with all of its ports',
    ]);
  },
);
