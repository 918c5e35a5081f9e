import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fullOr } from '../support/counts.js';
import { GOOD_CARD, startTestSandbox, type TestSandbox } from './support/sandbox.js';

let sandbox: TestSandbox;
let paymentId: string;
beforeAll(async () => {
  sandbox = await startTestSandbox();
  paymentId = (await sandbox.api.createPayment()).body.id;
});
afterAll(() => sandbox.close());

/** A valid body with one of its fields, at any depth, replaced by any JSON value. */
function mutated(valid: object): fc.Arbitrary<unknown> {
  const paths = pathsOf(valid);
  return fc
    .record({ path: fc.constantFrom(...paths), value: fc.jsonValue({ maxDepth: 3 }) })
    .map(({ path, value }) => replaced(valid, path, value));
}

function pathsOf(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))];
}

function replaced(target: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  const inner = (target as Record<string, unknown>)[name];
  return { ...(target as object), [name]: replaced(inner, rest, value) };
}

const bodies: readonly (readonly [string, object])[] = [
  [
    '/payments',
    {
      amount: 1,
      currency: 'USD',
      customer_id: '0b1c2d3e-0000-4000-8000-000000000000',
      additional_details: { a: 'b' },
      order: { id: '1', line_items: { 0: { unit_price: 1 } } },
      billing_address: { title: 'x' },
    },
  ],
  ['/tokens', { token_type: 'credit_card', holder_name: 'A', card_number: GOOD_CARD, credit_card_cvv: '1' }],
  [
    '/payments/{id}/charges',
    {
      payment_method: { type: 'untokenized', source_type: 'ewallet', vendor: 'v', additional_details: { a: 'b' } },
      reconciliation_id: 'r',
      three_d_secure_attributes: { external: { cavv: 'x' } },
      cof_transaction_indicators: { card_entry_mode: 'consent_transaction' },
      installments: { number_of_installments: 1 },
    },
  ],
  ['/sandbox/business-units', { app_id: 'fuzz', public_key: 'p', profile: { list_lag_ms: 1 } }],
  ['/sandbox/webhook-endpoints', { url: 'http://127.0.0.1:9', app_id: 'nobody', filters: { a: { 0: 'b' } } }],
  ['/sandbox/transactions/x/complete', { status: 'Succeed' }],
];

test.each(bodies)('no body makes %s answer with a 5xx or without JSON', async (path, valid) => {
  await fc.assert(
    fc.asyncProperty(mutated(valid), async (body) => {
      const answer = await sandbox.api.post(path.replace('{id}', paymentId), JSON.stringify(body), {
        'public-key': 'sandbox-public-key',
      });
      expect(answer.status).toBeLessThan(500);
      expect(() => JSON.parse(answer.text) as unknown).not.toThrow();
    }),
    { numRuns: fullOr(150, 40) },
  );
});

test('no path and no header makes it answer with a 5xx', async () => {
  const segment = fc.oneof(fc.webSegment(), fc.constantFrom('payments', 'charges', 'tokens', 'sandbox', paymentId));
  const header = fc.stringMatching(/^[!-~]{0,30}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'),
      fc.array(segment, { maxLength: 5 }),
      fc.record({ accept: header, 'api-version': header, 'app-id': header, 'idempotency-key': header }),
      async (method, segments, headers) => {
        // Never a reset by chance: the rest of the run stands on this state.
        fc.pre(segments.join('/') !== 'sandbox/reset');
        const answer = await sandbox.api.call(method, `/${segments.join('/')}`, undefined, headers);
        expect(answer.status).toBeLessThan(500);
      },
    ),
    { numRuns: fullOr(200, 60) },
  );
});
