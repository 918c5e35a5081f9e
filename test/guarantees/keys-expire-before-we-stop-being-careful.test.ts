import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChargeInput } from '../../src/contract/charge.js';
import { chargeInput } from '../support/charges.js';
import { differencesFromLedger } from '../support/ledger-check.js';
import type { SeenRequest, SkippedTime } from '../support/skipped-time.js';
import { startSkippedTime } from '../support/skipped-time.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** 1,200 calls at a minute's distance, so only for a full run. */
const onlyInFullRuns = process.env['HOLDFAST_FULL'] === '1' ? test : test.skip;

let time: SkippedTime;
beforeAll(async () => {
  time = await startSkippedTime();
});
afterAll(async () => {
  await time?.close();
});

async function withCvv(): Promise<ChargeInput> {
  const input = await chargeInput(time.sandbox);
  const { token, encryptedCvv = '' } = await time.sandbox.tokenize({ cardNumber: '4111111111111111', cvv: '737' });
  return { ...input, paymentMethod: { type: 'tokenized', token, encryptedCvv } };
}

const isChargePost = ({ method, path }: SeenRequest): boolean => method === 'POST' && path.endsWith('/charges');
const isRead = ({ method }: SeenRequest): boolean => method === 'GET';

/** ms between the start of a charge and its first and last attempt to move money. */
function sending(startedAt: number): { last: number; keys: Set<string | undefined> } {
  const posts = time.seen.filter((request) => isChargePost(request) && request.at >= startedAt);
  return { last: (posts.at(-1)?.at ?? 0) - startedAt, keys: new Set(posts.map(({ key }) => key)) };
}

async function expectGivenUpAfter(windowMs: number, input: ChargeInput): Promise<void> {
  time.treat((request) => (isChargePost(request) ? 'down' : 'pass'));
  const { outcome, startedAt } = await time.charge(input);
  const { last, keys } = sending(startedAt);
  // Tried to the last, and not a moment longer.
  expect(last).toBeGreaterThan(windowMs - 2 * MINUTE);
  expect(last).toBeLessThanOrEqual(windowMs);
  expect([...keys]).toEqual([`payment-${input.reference}:createCharge:1`]);

  const reads = time.seen.filter((request) => isRead(request) && request.at > startedAt + last);
  expect(reads.length).toBeGreaterThanOrEqual(3);
  expect((reads.at(-1)?.at ?? 0) - (startedAt + last)).toBeGreaterThan(75 * MINUTE);
  expect(outcome).toMatchObject({ status: 'notExecuted', evidence: { proof: expect.any(String) } });
  const ledger = await time.sandbox.ledger(input.reference);
  expect(differencesFromLedger([{ input, answer: outcome }], ledger)).toEqual([]);
}

describe('a charge that the service never answers', () => {
  test('and that carries a CVV is sent for 2 h 30 min, then only read until its absence is proven', async () => {
    await expectGivenUpAfter(2.5 * HOUR, await withCvv());
  }, 120_000);

  onlyInFullRuns(
    'is sent for 20 h under one key, then only read until its absence is proven',
    async () => {
      await expectGivenUpAfter(20 * HOUR, await chargeInput(time.sandbox));
    },
    300_000,
  );
});

describe('a charge on which the service acted without anybody hearing of it', () => {
  test('is not sent after its window, and is found as soon as the service can be read again', async () => {
    const input = await withCvv();
    let acted = false;
    let startedAt = Infinity;
    time.treat((request) => {
      startedAt = Math.min(startedAt, request.at);
      if (isChargePost(request)) {
        if (acted) return 'down';
        acted = true;
        return 'actAndDrop';
      }
      return isRead(request) && request.at < startedAt + 30 * HOUR ? 'down' : 'pass';
    });
    const { outcome } = await time.charge(input);
    expect(sending(startedAt).last).toBeLessThanOrEqual(2.5 * HOUR);
    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(Date.parse(outcome.evidence.settledAt) - startedAt).toBeGreaterThanOrEqual(30 * HOUR);
    expect(differencesFromLedger([{ input, answer: outcome }], await time.sandbox.ledger(input.reference))).toEqual([]);
  }, 120_000);
});
