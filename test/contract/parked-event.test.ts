import { expect, test } from 'vitest';
import { needsPerson, PARK_REASONS } from '../../src/contract/parked-event.js';

test('a parked event needs a person exactly where its flow has ended otherwise or does not know it', () => {
  expect(Object.fromEntries(PARK_REASONS.map((reason) => [reason, needsPerson(reason)]))).toEqual({
    flowNotFound: false,
    lookUpFailed: false,
    contradictsResult: true,
    unknownTransaction: true,
  });
});
