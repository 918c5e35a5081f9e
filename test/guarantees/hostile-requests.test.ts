import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Pool } from 'undici';
import { hostileRequests, type HostileRequest } from '../support/hostile-requests.js';
import { fullOr } from '../support/counts.js';
import { chargeBody, KEY, OLD_KEY, startHandler, UNITS, type Harness } from '../webhook/support.js';

const COUNT = fullOr(50_000, 200);
const AT_ONCE = 16;
const BATCH = 2_000;
const MEGABYTE = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let harness: Harness;
let pool: Pool;
beforeAll(async () => {
  const units = UNITS.map((unit) => ({ ...unit, legacyWebhooks: unit.name === 'default' }));
  harness = await startHandler({ units, apiBaseUrl: 'https://api.example.com/v1' });
  pool = new Pool(harness.url, { connections: AT_ONCE });
});
afterAll(async () => {
  await pool.close();
  await harness.close();
});

/** Status of the answer; 413 where the server hung up on a body that was too large. */
async function send({ method, path, headers, body }: HostileRequest): Promise<number> {
  try {
    const answer = await pool.request({ method: method as 'POST', path, headers, ...(body.length > 0 && { body }) });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    if (body.length > MEGABYTE) return 413;
    throw error;
  }
}

async function sendAll(requests: readonly HostileRequest[], statuses: Map<number, number>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      const status = await send(request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status < 400 || status >= 500) throw new Error(`${status} for ${JSON.stringify(request)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

function heapInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test('no hostile request is accepted, none is an error of ours, and none leaves anything in memory', async () => {
  const statuses = new Map<number, number>();
  let sent = 0;
  let settled: number | undefined;
  for (let seed = 1; sent < COUNT; seed += 1) {
    const requests = hostileRequests(Math.min(BATCH, COUNT - sent + 5), seed);
    await sendAll(requests, statuses);
    sent += requests.length;
    harness.logged.length = 0;
    settled ??= heapInUse();
  }
  expect(sent).toBeGreaterThanOrEqual(COUNT);
  // Refused for every kind of reason, not all for one.
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([400, 401, 404, 413]);
  expect(harness.sink.sent).toEqual([]);
  expect(harness.sink.parked).toEqual([]);
  expect(harness.asked).toEqual([]);
  expect(heapInUse() - (settled ?? 0)).toBeLessThan(16 * MEGABYTE);
  expect((await harness.postSigned(chargeBody())).status).toBe(200);
}, 300_000);

test('and what is written of them holds neither keys nor bodies', async () => {
  await sendAll(hostileRequests(fullOr(2_000, 60), 77), new Map());
  const log = harness.logged.join('\n');
  for (const secret of [KEY, OLD_KEY, 'DECLINED', 'insufficient_funds', 'sig1=']) expect(log).not.toContain(secret);
});
