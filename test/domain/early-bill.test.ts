import { expect, test } from 'vitest';
import { dunningPolicyOf } from '../../src/domain/dunning.js';
import { untilDue } from '../../src/domain/early-bill.js';
import type { DunningState, DunningStep } from '../../src/contract/billing-activities.js';
import { MONTHLY } from './calendar-arbitraries.js';
import { at } from './dunning-cases.js';

const dueAt = at('2027-04-25', '10:00');
const endsAt = at('2027-05-25', '10:00');
const GIVEN_UP: DunningStep = { do: 'giveUp', effect: 'cancel' };
const after = (state: Partial<DunningState>, step: DunningStep, ends = endsAt, maxAttempts = 8) =>
  untilDue(
    { state: { declines: 5, faults: 0, ...state }, step },
    { dueAt, endsAt: ends, policy: dunningPolicyOf({ maxAttempts }, MONTHLY) },
  );

test('what is given up is tried again when it is due, and its days of retries begin then', () => {
  expect(after({ firstDeclinedAt: 1, heldMs: 2 }, GIVEN_UP)).toEqual({
    state: { declines: 5, faults: 0 },
    step: { do: 'retry', at: dueAt, after: 'decline' },
  });
});

test.each([undefined, 'card', 'person', 'outcome'] as const)(
  'beyond the last try that is allowed no card is asked for that would not be tried, and it ends when it is due: %s',
  (hold) => {
    const state = { declines: 8, ...(hold !== undefined && { hold }) };
    expect(after(state, GIVEN_UP).step).toEqual({ do: 'wait', for: 'person', giveUpAt: dueAt });
  },
);

test.each(['card', 'person', 'confirmation'] as const)('who has to act has as long as with any bill: %s', (hold) => {
  const week = at('2027-05-02', '10:00');
  expect(after({ hold }, GIVEN_UP).step).toEqual({ do: 'wait', for: hold, giveUpAt: week });
  expect(after({ hold }, { do: 'wait', for: hold, giveUpAt: 1 }).step).toEqual({
    do: 'wait',
    for: hold,
    giveUpAt: week,
  });
  const soon = dueAt + 3_600_000;
  expect(after({ hold }, { do: 'wait', for: hold, giveUpAt: 1 }, soon).step).toMatchObject({ giveUpAt: soon });
});

test.each([{ do: 'retry', at: 1, after: 'fault' }, { do: 'block' }, { do: 'nothing' }, { do: 'attempt' }] as const)(
  'every other step stays as it is: $do',
  (step) => expect(after({ hold: 'outcome' }, step)).toMatchObject({ state: { hold: 'outcome' }, step }),
);
