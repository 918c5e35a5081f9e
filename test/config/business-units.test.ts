import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe as group, expect, test } from 'vitest';
import fc from 'fast-check';
import { loadConfig } from '../../src/config/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { UNITS, env, units, faultsOf } from './support.js';

group('business units', () => {
  test('come from a file as well, but not from both', () => {
    const file = join(temporaryFolder(), 'units.json');
    writeFileSync(
      file,
      JSON.stringify({ default: UNITS.default, eu: { ...UNITS.default, appId: 'app-2', apiVersion: '1.1.0' } }),
    );
    const fromFile = { HOLDFAST_BUSINESS_UNITS: undefined, HOLDFAST_BUSINESS_UNITS_FILE: file };
    expect(loadConfig(env(fromFile)).businessUnits.get('eu')?.apiVersion).toBe('1.1.0');
    expect(faultsOf(() => loadConfig(env({ HOLDFAST_BUSINESS_UNITS_FILE: file })))).toEqual([
      'HOLDFAST_BUSINESS_UNITS and HOLDFAST_BUSINESS_UNITS_FILE are both set: keep one',
    ]);
    const missing = { ...fromFile, HOLDFAST_BUSINESS_UNITS_FILE: `${file}.missing` };
    expect(faultsOf(() => loadConfig(env(missing)))).toEqual([expect.stringMatching(/can't be read \(ENOENT\)/)]);
  });

  test('list every fault of every unit and show no value', () => {
    const secret = 'secret-private-key';
    const faults = faultsOf(() =>
      loadConfig(
        env(
          units({
            main: { appId: secret, privateKey: '', colour: secret },
            'bad name': { appId: 'a', privateKey: `${secret} with spaces` },
            b: { appId: 'b', privateKey: secret, riskUnit: 'nowhere', holdDuration: secret, apiVersion: secret },
            c: { appId: 'c', privateKey: secret, riskUnit: 'nowhere' },
          }),
        ),
      ),
    );
    expect(faults.join('\n')).not.toContain(secret);
    for (const part of [
      'there is no unit named "default"',
      'main: privateKey',
      'main: colour: unknown field',
      '"bad name" is not a name',
      'bad name: privateKey',
      'b: holdDuration',
      'b: apiVersion',
      'b: riskUnit names a unit that is not there; use one of main, bad name, b, c',
      'c: riskUnit names a unit that is not there',
    ]) {
      expect(faults.filter((fault) => fault.includes(part))).toHaveLength(1);
    }
  });

  test('are checked for weak keys, app ids and endpoints although another of their fields is faulty', () => {
    const appId = 'app-1';
    const endpoints = [
      { url: 'http://shop.example/hook', secrets: [`whsec_${Buffer.alloc(24, 1).toString('base64')}`] },
      { url: 'https://no-secret.example/hook', tipes: [] },
      { url: 'https://faulty-secret.example/hook', secrets: ['whsec_short'] },
      { url: 7 },
    ];
    const main = { appId, privateKey: 'sandbox-private-key', holdDuraton: '7 days', notifications: { endpoints } };
    const other = { appId, privateKey: 'a key', previousPrivateKeys: ['no key', 'short'], publicKey: 7 };
    const live = { ...units({ default: main, other, third: 7 }), HOLDFAST_ENVIRONMENT: 'live' };
    const parts = [
      'default: holdDuraton: unknown field',
      'default: notifications.endpoints.1.tipes: unknown field',
      'default: notifications.endpoints.2.secrets.0: is not whsec_',
      'default: notifications.endpoints.3.url',
      'default: privateKey is a key of the sandbox',
      'default: notifications: http://shop.example is not an https address',
      'default: notifications: https://no-secret.example has no secret that signs',
      'other: privateKey',
      'other: previousPrivateKeys.0',
      'other: previousPrivateKeys.1 is shorter than 16 characters',
      'other: publicKey',
      'other: appId is the same as that of "default"',
      'third: ',
    ];
    const faults = faultsOf(() => loadConfig(env(live)));
    expect(parts.filter((part) => faults.filter((fault) => fault.includes(part)).length !== 1)).toEqual([]);
    expect(faults).toHaveLength(parts.length);
  });

  test('that share an app id are refused, since an event names nothing else', () => {
    const faults = faultsOf(() => loadConfig(env(units({ ...UNITS, eu: UNITS.default }))));
    expect(faults).toEqual([expect.stringContaining('eu: appId is the same as that of "default"')]);
  });

  test.each([
    ['namedAmounts', 'ignored', 'used'],
    ['holdDuration', '30 days', '7 days'],
  ])('name no risk unit that lacks their %s: payments with risk would have that of nobody', (term, value, usual) => {
    const faultsWith = (riskUnit: string, ofRisk: object, named: string = value) => {
      const risky = { appId: 'app-2', privateKey: 'private-2', ...ofRisk };
      return faultsOf(() => loadConfig(env(units({ default: { ...UNITS.default, [term]: named, riskUnit }, risky }))));
    };
    expect(faultsWith('risky', {})).toEqual([
      `HOLDFAST_BUSINESS_UNITS: default: ${term} does not count for payments with risk, which are created under "risky"; give that unit one too`,
    ]);
    expect(faultsWith('risky', { [term]: value })).toEqual([]);
    expect(faultsWith('risky', {}, usual)).toEqual([]);
    expect(faultsWith('default', {})).toEqual([]);
    expect(faultsOf(() => loadConfig(env(units({ default: { ...UNITS.default, [term]: value } }))))).toEqual([]);
  });

  test('are refused where a key stands twice in one object: JSON.parse would drop the first without a word', () => {
    const refused = (text: string) => faultsOf(() => loadConfig(env({ HOLDFAST_BUSINESS_UNITS: text })));
    const unit = '"appId":"app-1","privateKey":"secret-private-key"';
    const hooks = '"url":"https://shop.example/hook","secrets":["whsec_c2VjcmV0LW9mLXRoZS1lbmRwb2ludA=="]';
    const twice = (place: string) => `HOLDFAST_BUSINESS_UNITS: ${place} stands there twice: keep one`;
    for (const [text, ...places] of [
      [`{"default":{${unit}},"eu":{"appId":"a","privateKey":"b"},"eu":{"appId":"c","privateKey":"d"}}`, 'eu'],
      // One of both is written with an escape.
      [`{"default" :{${unit}},"\\u0064efault": {${unit}},"default":{${unit}}}`, 'default'],
      [
        `{"default":{${unit},"outgoing":{"perCall":{"EUR":1,"EUR":2}},"callsPerSecond":5,"outgoing":{},"callsPerSecond":9}}`,
        'default: outgoing.perCall.EUR',
        'default: outgoing',
        'default: callsPerSecond',
      ],
      [
        `{"default":{${unit},"notifications":{"endpoints":[{${hooks}},{${hooks},"types":["payment.succeeded"],"types":[]}]}}}`,
        'default: notifications.endpoints.1.types',
      ],
    ] as [string, ...string[]][]) {
      const faults = refused(text);
      expect(faults.filter((fault) => fault.includes('twice'))).toEqual(places.map(twice));
      expect(faults.join()).not.toContain('secret-private-key');
    }
    const file = join(temporaryFolder(), 'units.json');
    writeFileSync(file, `{"default":{${unit},"appId":"app-2"}}`);
    const fromFile = { HOLDFAST_BUSINESS_UNITS: undefined, HOLDFAST_BUSINESS_UNITS_FILE: file };
    expect(faultsOf(() => loadConfig(env(fromFile)))).toEqual([
      'HOLDFAST_BUSINESS_UNITS_FILE: default: appId stands there twice: keep one',
    ]);
  });

  test('may have one key in several objects, and values that look like keys', () => {
    const value = fc.string().map((noise) => `"default":{"appId":${noise}\\"`);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(value, fc.array(value), fc.jsonValue())), (noise) => {
        const text = JSON.stringify({ ...UNITS, eu: { ...UNITS.default, appId: 'app-2', noise } });
        const faults = faultsOf(() => loadConfig(env({ HOLDFAST_BUSINESS_UNITS: text })));
        expect(faults.filter((fault) => fault.includes('twice'))).toEqual([]);
      }),
    );
  });

  test('never show up in a fault, however broken the text is', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('{', '[', '', '"'), (noise, before) => {
        const text = `${before}secret-key-value${noise}`;
        expect(faultsOf(() => loadConfig(env({ HOLDFAST_BUSINESS_UNITS: text }))).join()).not.toContain('secret-key');
      }),
    );
    for (const value of [null, [], 'text', 7]) {
      expect(faultsOf(() => loadConfig(env(units(value))))).toEqual([expect.stringContaining('expected an object')]);
    }
  });
});
