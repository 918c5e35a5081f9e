import { describe, expect, test } from 'vitest';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { beginFlow, declined, inputOf, sharedTime } from './scene.js';

const time = sharedTime();

const CONSENT = { cardOnFile: { entryMode: 'consent_transaction' } };

describe('a card whose first card-on-file transaction was declined', () => {
  test.each([
    ['storeCard', {}],
    ['charge', CONSENT],
    ['authorizeAndCapture', CONSENT],
  ] as const)('is said to be of no more use by %s, whatever the reason', async (type, more) => {
    for (const faults of [[], [declined('*')]]) {
      const input = await inputOf(time, type, { card: CARDS.declines, ...more });
      const flow = await beginFlow(time, type, input, faults);
      expect(await flow.outcome()).toMatchObject({ status: 'declined', retryable: 'newCard' });
      expect(await time.holdfast.explain(flow.reference)).toContain('Only another card may be tried.');
      expect((await movements(time, flow.reference)).map((line) => line.split(' ')[1])).toEqual(['Failed']);
    }
  });

  test('may be tried again where it was no consent', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.declines }));
    expect(await flow.outcome()).toMatchObject({ status: 'declined', retryable: 'newReference' });
  });
});
