import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SEED } from '../support/seeded.js';
import { fullOr } from '../support/counts.js';
import { fitting, type Schema, spoilt } from './support/fuzz/arbitrary.js';
import { describedOperations, type Described } from './support/fuzz/operations.js';
import type { Pool } from './support/fuzz/pool.js';
import { KNOWN_REFERENCE, onlyHarmlessFault, stockedPool } from './support/fuzz/stock.js';
import { startTestSandbox, type TestSandbox, type Wire } from './support/sandbox.js';

/** They would take away what the other requests stand on; they are tried one by one below. */
const DISRUPTIVE = new Set(['reset', 'changeSettings', 'advanceClock']);

let sandbox: TestSandbox;
let operations: Described[];
beforeAll(async () => {
  sandbox = await startTestSandbox();
  operations = await describedOperations(sandbox.url);
});
afterAll(() => sandbox.close());

/** As it is at the start, and with what is there before the first request. */
async function freshStock(): Promise<Pool> {
  await sandbox.control.reset();
  await sandbox.control.putBusinessUnit({ app_id: 'holdfast-sandbox', saq_d: true });
  return await stockedPool(sandbox);
}

const FULL = fullOr(1, 0) === 1;
/** Tries of an operation that was only refused so far. Of those on a fresh stock one in a few succeeds. */
const MORE_TRIES = 500;
const AT_ONCE = 10;

interface Request {
  described: Described;
  pick: number;
  /** Whether path and references name what is there. */
  known: boolean;
  body: string | undefined;
  query: string;
  headers: Record<string, string | undefined>;
}

const anyHeader = fc.stringMatching(/^[!-~]{0,20}$/);
const oddHeaders = fc.oneof(
  fc.record({ 'content-type': fc.constantFrom('text/plain', 'application/json; charset=latin1', '') }),
  fc.record({ accept: anyHeader }),
  fc.record({ 'api-version': anyHeader }),
  fc.record({ 'private-key': anyHeader }),
  fc.record({ 'x-svc-env': anyHeader }),
);

/** Made once for each operation: to make one costs more than to draw from it. */
const fittingBodies = new Map<Schema, fc.Arbitrary<unknown>>();

function fittingBody(schema: Schema): fc.Arbitrary<unknown> {
  const made = fittingBodies.get(schema) ?? fitting(schema);
  fittingBodies.set(schema, made);
  return made;
}

/** Mostly what the description asks for; now and then one value spoilt, any JSON, or no JSON at all. */
function bodyOf(described: Described, pool: Pool): fc.Arbitrary<string | undefined> {
  if (described.body === undefined) return fc.constantFrom(undefined, undefined, '', '{}', '{"amount":');
  const fits = fittingBody(described.body);
  const referring = fc.tuple(fits, fc.nat(50)).map(([body, pick]) => pool.refer(body, pick));
  return fc.oneof(
    { weight: 18, arbitrary: referring.map((body) => JSON.stringify(body)) },
    {
      weight: 6,
      arbitrary: fc
        .tuple(referring, fc.nat(), fc.jsonValue({ maxDepth: 3 }))
        .map(([body, at, value]) => JSON.stringify(spoilt(body, at, value))),
    },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string() },
    { weight: 1, arbitrary: fc.constantFrom('{"a":'.repeat(100), 'x'.repeat(1_100_000), '{"amount":1e999}') },
  );
}

function request(pool: Pool, names: readonly string[]): fc.Arbitrary<Request> {
  const tried = fc
    .constantFrom(...names)
    .chain((name) => fc.constantFrom(...operations.filter(({ operation }) => operation === name)));
  return tried.chain((described) =>
    fc.record({
      described: fc.constant(described),
      pick: fc.nat(50),
      known: fc.nat(19).map((dice) => dice > 0),
      body: bodyOf(described, pool),
      query: queryOf(described),
      headers: fc
        .tuple(fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined, freq: 1 }), fc.nat(19), oddHeaders)
        .map(([key, dice, odd]) => ({ 'idempotency-key': key, ...(dice === 0 ? odd : {}) })),
    }),
  );
}

function queryOf({ query }: Described): fc.Arbitrary<string> {
  const parameters = query.map(({ name, schema }) =>
    fc
      .array(fc.oneof(fitting(schema), fc.string(), fc.constant(KNOWN_REFERENCE)), { maxLength: 2 })
      .map((values) => values.map((value) => [name, value])),
  );
  return fc.tuple(...parameters).map((lists) => {
    const pairs = lists.flat().map(([name, value]): [string, string] => [String(name), String(value)]);
    return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
  });
}

async function send({ described, pick, known, body, query, headers }: Request, pool: Pool): Promise<Wire> {
  const filled = known ? pool.fill(described.path, pick) : described.path.replaceAll(/\{\w+\}/g, `odd%20${pick}`);
  const answer = await sandbox.api.call(
    described.method,
    `${filled}${query}`,
    described.method === 'GET' ? undefined : body,
    {
      'api-version': described.version,
      'public-key': 'sandbox-public-key',
      ...headers,
    },
  );
  pool.learn(filled, answer);
  return answer;
}

function check({ described }: Request, answer: Wire): void {
  expect(answer.status).toBeLessThan(500);
  if (answer.status < 300) {
    expect(answer.status).toBe(described.success);
    if (answer.status === 204) return expect(answer.text).toBe('');
    // Lines of JSON, or CSV.
    if (described.operation === 'statement') return expect(answer.text).toContain('covers');
    const value: unknown = JSON.parse(answer.text);
    if (described.fits && !described.fits(value)) throw new Error(JSON.stringify(described.fits.errors));
  } else if (described.control && described.operation !== 'openRedirection') {
    expect(JSON.parse(answer.text)).toEqual(answer.status === 404 ? expect.anything() : { errors: expect.any(Array) });
  } else if (!described.control) {
    const { category, description, ...rest } = answer.body;
    expect([category, description]).toEqual([expect.stringMatching(/^api_/), expect.any(String)]);
    expect(Object.keys(rest)).toEqual('more_info' in rest ? ['more_info'] : []);
  }
}

/** A few at a time: to make all of them costs more than to send those that are needed. */
function* samples<T>(
  arbitrary: fc.Arbitrary<T>,
  { tries, seed = SEED }: { tries: number; seed?: number },
): Generator<T> {
  for (let made = 0; made < tries; made += AT_ONCE)
    yield* fc.sample(arbitrary, { numRuns: AT_ONCE, seed: seed + made });
}

test('no request that the description allows, and none that it forbids, is answered with a 5xx or an undescribed body', async () => {
  const names = [...new Set(operations.map(({ operation }) => operation))].filter((name) => !DISRUPTIVE.has(name));
  const succeeded = new Set<string>();
  const attempt = async (one: Request, pool: Pool): Promise<void> => {
    const answer = await send(one, pool);
    check(one, answer);
    const { operation } = one.described;
    if (answer.status < 400) succeeded.add(operation);
    if (operation === 'plantFault' && answer.status === 201) await onlyHarmlessFault(sandbox.control, pool);
  };
  // The short run is the same every time, so that what it reaches does not hang on luck.
  const seed = FULL ? {} : { seed: 2 };
  const pool = await freshStock();
  await fc.assert(
    fc.asyncProperty(request(pool, names), async (one) => await attempt(one, pool)),
    { numRuns: fullOr(8_000, 30), endOnFailure: true, ...seed },
  );
  // Without successes it would only have tried how it refuses. What an operation needs, as a pending transaction, may have
  // been used up by others or by time: then it is tried on a fresh stock.
  let stock = await freshStock();
  const tryUntilDone = async (name: string, tries: number): Promise<void> => {
    for (const one of samples(request(stock, [name]), { tries, ...seed })) {
      if (succeeded.has(name)) return;
      await attempt(one, stock);
    }
  };
  for (const name of names.filter((one) => !succeeded.has(one))) {
    await tryUntilDone(name, AT_ONCE);
    if (succeeded.has(name)) continue;
    stock = await freshStock();
    await tryUntilDone(name, MORE_TRIES);
  }
  expect(names.filter((name) => !succeeded.has(name))).toEqual([]);
}, 600_000);

test('operations that change the whole sandbox refuse what they can not take, and name it', async () => {
  const disruptive = operations.filter(({ operation, version }) => DISRUPTIVE.has(operation) && version === '1.3.0');
  expect(disruptive).toHaveLength(DISRUPTIVE.size);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...disruptive), fc.jsonValue({ maxDepth: 3 }), async ({ path }, body) => {
      const answer = await sandbox.api.post(path, JSON.stringify(body));
      expect([200, 400]).toContain(answer.status);
      if (answer.status === 400) expect(answer.body['errors']).not.toEqual([]);
    }),
    { numRuns: fullOr(500, 20) },
  );
});
