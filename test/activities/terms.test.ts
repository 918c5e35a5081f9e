import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EnginePort } from '../../src/contract/engine-port.js';
import { type AttemptInfo, Harness, HOUR, paymentCall, Service } from './support.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** A payment whose hold is to last for six days, with a unit that by now holds for one. */
async function withoutTerms(
  info: AttemptInfo,
  { engine, mayHaveLeft = false }: { engine?: Partial<EnginePort>; mayHaveLeft?: boolean } = {},
) {
  const { url: baseUrl } = service.sandbox;
  const harness = new Harness({ baseUrl, holdMs: 24 * HOUR, ...(engine && { engine }) });
  const call = paymentCall({ terms: { captureDeadlineMs: 6 * 24 * HOUR }, mayHaveLeft });
  try {
    return { payment: await harness.run('createPayment', call, info) };
  } catch (refused) {
    return { refused, sent: harness.posts() };
  } finally {
    await harness.close();
  }
}

const REFUSED = {
  refused: { type: 'InvalidInput', message: expect.stringContaining('beyond the hold of business unit "default"') },
  sent: [],
};
const GOES_ON = { payment: { amount: 1095, holdMs: 24 * HOUR } };

describe('terms that the business unit does not offer', () => {
  test('are refused before anything is sent', async () => {
    expect(await withoutTerms({})).toMatchObject(REFUSED);
    const engine = { inFirstTry: () => Promise.resolve(true) };
    expect(await withoutTerms({ isLocal: true }, { engine })).toMatchObject(REFUSED);
  });

  test.each<[string, AttemptInfo, Parameters<typeof withoutTerms>[1]]>([
    ['its workflow task is tried again', { isLocal: true }, { engine: { inFirstTry: () => Promise.resolve(false) } }],
    ['the engine does not say how often its task was tried', { isLocal: true }, {}],
    ['an earlier attempt may have left', { attempt: 2 }, {}],
    ['the flow knows that something may have left', {}, { mayHaveLeft: true }],
    [
      'the run was made by a reset',
      { runId: 'another' },
      { engine: { earlierPayment: () => Promise.resolve(undefined) } },
    ],
  ])('end no flow when %s: under the old configuration money may have moved', async (_when, info, more) => {
    expect(await withoutTerms(info, more)).toMatchObject(GOES_ON);
  });
});

describe('a payment with risk, whose risk unit holds money for less time than the unit that it is asked for', () => {
  async function asked(captureDeadlineMs: number) {
    const { url: baseUrl } = service.sandbox;
    const harness = new Harness({ baseUrl, holdMs: 7 * 24 * HOUR, riskUnit: 'risky', riskHoldMs: 48 * HOUR });
    try {
      return await harness.run('createPayment', paymentCall({ terms: { risk: true, captureDeadlineMs } }));
    } finally {
      await harness.close();
    }
  }

  test('is held as long as the risk unit says, under which it is made', async () => {
    expect(await asked(24 * HOUR)).toMatchObject({ businessUnit: 'risky', holdMs: 48 * HOUR });
  });

  test('is refused a deadline that is beyond that', async () => {
    await expect(asked(5 * 24 * HOUR)).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('beyond the hold of business unit "risky"'),
    });
  });
});

test('a table of declines comes with the payment that is made, and with the one that is read', async () => {
  const declines = { categories: { provider_error: 'hard' as const }, unknown: 'hard' as const };
  const harness = new Harness({ baseUrl: service.sandbox.url, declines });
  const made = await harness.run('createPayment', paymentCall());
  expect(made).toMatchObject({ declines });
  const read = { businessUnit: 'default', paymentId: made.paymentId };
  expect(await harness.run('getPayment', read)).toMatchObject({ declines });
  await harness.close();
  const without = new Harness({ baseUrl: service.sandbox.url, holdMs: HOUR });
  expect(await without.run('getPayment', read)).not.toHaveProperty('declines');
  await without.close();
});

describe('a business unit that means another app id, or the other environment, for this worker', () => {
  const HERE = 'test/holdfast-sandbox';
  const ELSEWHERE = { madeUnder: 'live/holdfast-sandbox' };
  const NOT_MINE = { type: 'ProviderUnavailable', retryable: true };

  test('is told by the payment, and sends nothing for one of others', async () => {
    const harness = new Harness({ baseUrl: service.sandbox.url, madeUnder: HERE });
    expect(await harness.run('createPayment', paymentCall())).toMatchObject({ madeUnder: HERE });
    const { call } = await service.readyCharge(ELSEWHERE);
    const sent = harness.requests.length;
    const failed = await harness.fail('createCharge', call);
    expect(failed).toMatchObject({ ...NOT_MINE, details: { mayHaveLeft: false } });
    expect(failed.message).toContain('made under live/holdfast-sandbox');
    // So that the worker that can send it may still believe a refusal.
    expect(harness.heartbeats).toEqual([{ refusedThrough: 1 }]);
    expect(await harness.fail('createCharge', call, { attempt: 2 })).toMatchObject({ details: { mayHaveLeft: true } });
    // Attempts are counted again after a reset of the activity: it must not take the older proof for its own.
    expect(harness.heartbeats).toEqual([{ refusedThrough: 1 }, { refusedThrough: -1 }]);
    // No other worker can be found: the flow is to be told of it.
    const rejected = { type: 'CredentialsRejected', retryable: false, details: { mayHaveLeft: true } };
    expect(await harness.fail('createCharge', call, { attempt: 3 })).toMatchObject(rejected);
    const { paymentId, currency } = call;
    const read = { businessUnit: 'default', paymentId, currency, ...ELSEWHERE };
    expect(await harness.fail('listCharges', read)).toMatchObject(NOT_MINE);
    expect(await harness.fail('getPayment', read)).toMatchObject(NOT_MINE);
    expect(harness.requests.length).toBe(sent);
    expect(await harness.run('getPayment', { ...read, madeUnder: HERE })).toMatchObject({ madeUnder: HERE });
    await harness.close();
  });

  test('parks the flow where the unit is missing here, however new the call is', async () => {
    const harness = new Harness({ baseUrl: service.sandbox.url });
    const { call } = await service.readyCharge({ businessUnit: 'shop', ...ELSEWHERE });
    expect(await harness.fail('createCharge', call)).toMatchObject({ type: 'CredentialsRejected' });
    await harness.close();
  });
});
