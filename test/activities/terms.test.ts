import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EnginePort } from '../../src/contract/activities.js';
import type { AttemptInfo } from './support.js';
import { Harness, HOUR, paymentCall, Service } from './support.js';

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
