import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describe, loadConfig } from '../../src/config/index.js';
import { DEMO_SECRETS } from '../../src/config/known-secrets.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { env, faultsOf, UNITS, units } from './support.js';

const SECRETS = [`whsec_${Buffer.alloc(24, 1).toString('base64')}`];
const telling = (...endpoints: object[]) => ({ ...UNITS.default, notifications: { endpoints, secrets: SECRETS } });
const faultsWith = (...endpoints: object[]) =>
  faultsOf(() => loadConfig(env(units({ default: telling(...endpoints) }))));

test.each(['10.0.0.1', '127.0.0.1:8080', '[::1]', '169.254.169.254'])(
  'an endpoint at %s, to which nothing would ever be sent, is refused unless private addresses are told',
  (host) => {
    expect(faultsWith({ url: `https://${host}/hook` })).toEqual([
      `HOLDFAST_BUSINESS_UNITS: default: notifications: https://${host} is no public address, so that nothing is ever sent ` +
        'there; HOLDFAST_NOTIFY_PRIVATE=1 allows those',
    ]);
    const there = units({ default: telling({ url: `https://${host}/hook` }) });
    expect(faultsOf(() => loadConfig(env({ ...there, HOLDFAST_NOTIFY_PRIVATE: '1' })))).toEqual([]);
  },
);

test('of a process that tells nobody, such as the webhook handler, an endpoint asks nothing', () => {
  const there = units({
    default: { ...UNITS.default, notifications: { endpoints: [{ url: 'https://10.0.0.1/hook' }] } },
  });
  expect(faultsOf(() => loadConfig(env(there)))).toHaveLength(2);
  expect(faultsOf(() => loadConfig(env(there), { tells: false }))).toEqual([]);
});

test('two endpoints of a unit with one address are refused, unless the same secrets sign: those of the second never would', () => {
  const [types, secrets] = [['payment.succeeded'], [`whsec_${Buffer.alloc(24, 2).toString('base64')}`]];
  const url = 'https://shop.example/hook';
  for (const same of [url, 'https://SHOP.example:443/hook'])
    expect(faultsWith({ url }, { url: 'https://shop.example/other' }, { url: same, types, secrets })).toEqual([
      expect.stringContaining('default: notifications: https://shop.example stands there twice'),
    ]);
  expect(faultsWith({ url, types: ['payment.declined'] }, { url, types })).toEqual([]);
  const eu = { ...telling({ url }), appId: 'app-2' };
  expect(faultsOf(() => loadConfig(env(units({ default: telling({ url }), eu }))))).toEqual([]);
});

test('a faulty endpoint, and a secret that everybody knows, are said to stand where they do', () => {
  const file = join(temporaryFolder(), 'units.json');
  const known = [DEMO_SECRETS.notifySecret];
  const endpoints = [{ url: 'http://shop.example' }, { url: 'https://eu.example', secrets: known }];
  const privateKey = 'live-private-key-of-the-shop';
  writeFileSync(file, JSON.stringify({ default: { ...telling(...endpoints), privateKey } }));
  const live = { HOLDFAST_ENVIRONMENT: 'live', HOLDFAST_NOTIFY_SECRET: SECRETS[0] };
  const from = { HOLDFAST_BUSINESS_UNITS: undefined, HOLDFAST_BUSINESS_UNITS_FILE: file };
  const start = 'HOLDFAST_BUSINESS_UNITS_FILE: default: notifications: ';
  expect(faultsOf(() => loadConfig(env({ ...live, ...from })))).toEqual([
    expect.stringContaining(`${start}http://shop.example is not an https address`),
    expect.stringContaining(`${start}https://eu.example: is that of deploy/demo.env`),
  ]);
  const own = { default: { ...UNITS.default, privateKey, notifications: { secrets: known } } };
  expect(faultsOf(() => loadConfig(env({ ...live, ...units(own) })))).toEqual([
    expect.stringContaining('HOLDFAST_BUSINESS_UNITS: default: notifications: secrets: is that of deploy/demo.env'),
  ]);
});

test('no path and no query of an endpoint is printed at the start, nor in a fault: it may be a token', () => {
  const url = 'https://shop.example/hooks/T0-path-token?key=query-token';
  const printed = describe(loadConfig(env(units({ default: telling({ url }) })))).join('\n');
  expect(printed).toContain('tells https://shop.example');
  const [fault] = faultsWith({ url: url.replace('//', '//user:password@') });
  expect(fault).toContain('default: notifications: https://shop.example carries a user name');
  expect(`${printed}${fault}`).not.toMatch(/token|user:|:password/);
});
