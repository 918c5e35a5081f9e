import { isIP } from 'node:net';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { ipAddressSchema } from '../../src/contract/fields.js';

const isIpAddress = (text: string): boolean => ipAddressSchema.safeParse(text).success;

const V4 = ['0.0.0.0', '255.255.255.255', '249.99.100.9', '199.10.1.250'];
const V6 = [
  ...['::', '::1', '1::', '2001:db8::7', '1:2:3:4:5:6:7:8', 'ABCD:ef01:2345:6789:abcd:EF01:2345:6789'],
  ...['1::3:4:5:6:7:8', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8', '::ffff:203.0.113.7', '1:2:3:4:5:6:203.0.113.7'],
  ...['::203.0.113.7', '1::203.0.113.7', '1:2:3:4:5::203.0.113.7'],
];
const NONE = [
  ...['', '1.2.3', '1.2.3.4.5', '256.1.1.1', '1.256.1.1', '1.1.1.260', '01.2.3.4', '1.2.3.04', ' 1.2.3.4', '1.2.3.4 '],
  ...['a.b.c.d', '1,2,3,4', '1.2.3.4/24', '-1.2.3.4', '1.2.3.300'],
  ...[
    ':',
    ':::',
    '::1::',
    '1::2::3',
    '1:2:3::4:5::6:7:8',
    ':1',
    '1:',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
  ],
  ...['::1:2:3:4:5:6:7:8', '1:2:3:4::5:6:7:8', '12345::', '::12345', 'g::', '::g', '1::g:2', '1:2:3:4:5:6:7:x'],
  ...['::1.2.3', '::1.2.3.256', '1.2.3.4::', '1.2.3.4::1', '::1.2.3.4:1', '1:2:3:4:5:6:7:1.2.3.4', '1:2:3:4:5:1.2.3.4'],
  ...[
    '1:2:3:4:5:6::1.2.3.4',
    'fe80::1%eth0',
    '[::1]',
    '::1/64',
    '1:2:3:4:5:6:7:8:',
    ':1:2:3:4:5:6:7:8',
    '1::2:',
    ':1::2',
  ],
];

describe('an address of the internet', () => {
  test.each([...V4, ...V6])('is %s', (address) => {
    expect(isIpAddress(address)).toBe(true);
  });

  test.each(NONE)('is not %j', (text) => {
    expect(isIpAddress(text)).toBe(false);
  });

  test('is what the runtime takes for one, zones aside', () => {
    expect([...V4, ...V6].filter((address) => isIP(address) === 0)).toEqual([]);
    const part = fc.constantFrom('', '0', '7', 'ff', 'abcd', '12345', 'g', '1.2.3.4', '1.2.3', '1.2.3.256');
    const text = fc.oneof(
      fc.array(part, { minLength: 1, maxLength: 10 }).map((parts) => parts.join(':')),
      fc
        .array(fc.constantFrom('0', '9', '25', '255', '256', '00', ''), { minLength: 3, maxLength: 5 })
        .map((o) => o.join('.')),
      fc.ipV4(),
      fc.ipV6(),
      // A parser of URLs would pass over some of these.
      fc
        .tuple(fc.ipV6(), fc.nat(39), fc.constantFrom('\n', '\r', '\t', ' ', '@', '/', '\\', '#', ']'))
        .map(([address, at, extra]) => address.slice(0, at) + extra + address.slice(at)),
    );
    fc.assert(
      fc.property(text, (address) => {
        expect(isIpAddress(address)).toBe(isIP(address) !== 0);
      }),
      { numRuns: 2_000 },
    );
  });
});
