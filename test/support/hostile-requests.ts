import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { anyText } from './any-text.js';
import { chargeBody, EVENT_TYPE, headersFor } from '../webhook/support.js';

export interface HostileRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

const GOOD = JSON.stringify(chargeBody());
const GOOD_HEADERS = headersFor(chargeBody());
const HREF = `https://api.example.com/v1/payments/${chargeBody().payment_id}/charges/${chargeBody().data.id}`;

/** Header values that HTTP can carry at all; the others never leave the sender. */
const headerValue = fc.oneof(
  fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,60}[\x21-\x7e])?$/),
  fc.constantFrom(
    '',
    'sig1=',
    `sig1=${'0'.repeat(64)}`,
    'null',
    '[object Object]',
    '1.3.0',
    'live',
    'test',
    '__proto__',
  ),
);
const wildValue = fc.oneof(
  anyText({ maxLength: 30 }),
  fc.double(),
  fc.bigInt().map(String),
  fc.constantFrom(null, true, [], {}, [[]], { toString: 'x' }, '__proto__', 'constructor', 1e308, -0, '\u0000', ','),
  fc.jsonValue({ maxDepth: 4 }),
);
const PATHS = ['id', 'account_id', 'payment_id', 'created', 'data.id', 'data.amount', 'data.currency', 'app_id'];
const RESULT_PATHS = ['data.result.status', 'data.result.category', 'data.reconciliation_id', 'data.result'];

function withValue(path: string, value: unknown): Buffer {
  const body: Record<string, unknown> = structuredClone(chargeBody());
  const names = path.split('.');
  let holder = body;
  for (const name of names.slice(0, -1)) holder = holder[name] as Record<string, unknown>;
  holder[names.at(-1) ?? ''] = value;
  return Buffer.from(JSON.stringify(body));
}

const request = (body: Buffer, headers: Record<string, string | string[]> = GOOD_HEADERS): HostileRequest => ({
  method: 'POST',
  path: '/webhooks',
  headers,
  body,
});

/** Signed by nobody: each differs from the one honest request in something that makes it worthless. */
const mutated = fc.tuple(fc.constantFrom(...PATHS, ...RESULT_PATHS), wildValue).map(([path, value]) => {
  return request(withValue(path, value));
});
/** One byte of a structure or a signed value: no byte of a field that no signature covers. */
const flippedBytes = fc.tuple(fc.nat(GOOD.indexOf('"data"')), fc.nat(255)).map(([at, byte]) => {
  const body = Buffer.from(GOOD);
  body[at] = body[at] === byte ? (byte + 1) % 256 : byte;
  return request(body);
});
const cutBody = fc.nat(GOOD.length - 1).map((length) => request(Buffer.from(GOOD.slice(0, length))));
const noise = fc.uint8Array({ maxLength: 2000 }).map((bytes) => request(Buffer.from(bytes)));
const otherHeaders = fc
  .tuple(fc.constantFrom('signature', 'event-type', 'version', 'x-svc-env'), headerValue)
  .map(([name, value]) => request(Buffer.from(GOOD), { ...GOOD_HEADERS, [name]: value }));
const withoutHeader = fc
  .constantFrom('signature', 'event-type', 'version', 'x-svc-env')
  .map((name) =>
    request(Buffer.from(GOOD), Object.fromEntries(Object.entries(GOOD_HEADERS).filter(([own]) => own !== name))),
  );
const twoSignatures = headerValue.map((value) =>
  request(Buffer.from(GOOD), { ...GOOD_HEADERS, signature: [GOOD_HEADERS['signature'] ?? '', value] }),
);
const encodings = fc.constantFrom('utf16le', 'latin1', 'gzip', 'bom', 'base64', 'hex').map((encoding) => {
  if (encoding === 'gzip') return request(gzipSync(GOOD), { ...GOOD_HEADERS, 'content-encoding': 'gzip' });
  if (encoding === 'latin1') return request(Buffer.from(GOOD.replace('order-1001', 'ördér'), 'latin1'));
  if (encoding === 'bom') return request(Buffer.from(`\ufeff\ufeff${GOOD}`));
  return request(
    encoding === 'utf16le' ? Buffer.from(GOOD, 'utf16le') : Buffer.from(Buffer.from(GOOD).toString(encoding as 'hex')),
  );
});
const deep = fc
  .integer({ min: 64, max: 3000 })
  .map((depth) => request(Buffer.from(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)));
/** Once in a batch, since each is a megabyte. */
const LARGE = request(Buffer.alloc(1024 * 1024 + 1, 0x20));
const elsewhere = fc
  .tuple(
    fc.constantFrom('GET', 'PUT', 'DELETE', 'PATCH', 'POST'),
    fc.constantFrom('/', '/webhooks/', '/webhooks/..', '/%2e%2e', '/metrics'),
  )
  .map(([method, path]) => ({ ...request(method === 'GET' ? Buffer.alloc(0) : Buffer.from(GOOD)), method, path }));
/** The older generation, whose digest anybody can make: refused by its unit, its address or its form. */
const legacy = fc
  .tuple(
    fc.constantFrom('app-default', 'app-other', 'nobody'),
    fc.oneof(fc.webUrl(), fc.constantFrom(`${HREF}/..`, HREF.replace('https', 'http'), 'javascript:0')),
    wildValue,
  )
  .map(([appId, href, wild]) => {
    const resource = { id: chargeBody().payment_id, action_id: chargeBody().data.id, href };
    const text = JSON.stringify({ event_type: EVENT_TYPE, 'app-id': appId, created: wild, resource });
    const digest = createHash('sha256').update(text).digest('hex');
    return request(Buffer.from(text), { digest, version: '1.0.1', 'x-svc-env': 'test' });
  });

/** Requests none of which may be accepted, as many as wanted, the same for one seed. */
export function hostileRequests(count: number, seed: number): HostileRequest[] {
  const any = fc.oneof(
    { weight: 250, arbitrary: mutated },
    { weight: 150, arbitrary: flippedBytes },
    { weight: 80, arbitrary: cutBody },
    { weight: 100, arbitrary: noise },
    { weight: 150, arbitrary: otherHeaders },
    { weight: 40, arbitrary: withoutHeader },
    { weight: 40, arbitrary: twoSignatures },
    { weight: 50, arbitrary: encodings },
    { weight: 20, arbitrary: deep },
    { weight: 40, arbitrary: elsewhere },
    { weight: 80, arbitrary: legacy },
  );
  return [LARGE, ...fc.sample(any, { numRuns: count, seed }).filter(isHostile)];
}

/** What a generator made by chance just as the honest sender does. */
function isHostile({ path, method, headers, body }: HostileRequest): boolean {
  if (method !== 'POST' || path !== '/webhooks') return true;
  return !(body.equals(Buffer.from(GOOD)) && JSON.stringify(headers) === JSON.stringify(GOOD_HEADERS));
}
