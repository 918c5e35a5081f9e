import { describe, expect, test } from 'vitest';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import {
  type AttemptKnowledge,
  CallHeldBack,
  READ_KNOWLEDGE,
  classify,
  toApplicationFailure,
} from '../../activities/to-application-failure.js';
import type { FailureType } from '../../src/contract/names.js';
import { PROVIDER_ERROR_KINDS, ProviderError, type ProviderErrorFields } from '../../src/provider/index.js';
import { failedWith } from './support.js';

const FIRST: AttemptKnowledge = { earlierMayHaveLeft: false };
const LATER: AttemptKnowledge = { earlierMayHaveLeft: true };

function errorOf(fields: Partial<ProviderErrorFields>): ProviderError {
  return new ProviderError('createCharge: did not work', {
    kind: 'http',
    operation: 'createCharge',
    mayHaveLeft: true,
    ...fields,
  });
}
const http = (httpStatus: number): Partial<ProviderErrorFields> => ({ kind: 'http', httpStatus });

/** Answer → failure type, retried as it is?, disbelieved after an earlier attempt that may have acted? */
const RULES: readonly [string, Partial<ProviderErrorFields>, FailureType, boolean, boolean][] = [
  ['a refused connection', { kind: 'refused', mayHaveLeft: false }, 'ProviderUnavailable', true, false],
  ['a lost connection', { kind: 'lost' }, 'ProviderUnavailable', true, false],
  ['a time-out', { kind: 'timeout' }, 'ProviderUnavailable', true, false],
  ['500', http(500), 'ProviderUnavailable', true, false],
  ['502', http(502), 'ProviderUnavailable', true, false],
  ['503', http(503), 'ProviderUnavailable', true, false],
  ['504', http(504), 'ProviderUnavailable', true, false],
  ['an unusual 5xx', http(599), 'ProviderUnavailable', true, false],
  ['408', http(408), 'ProviderUnavailable', true, false],
  ['429', http(429), 'RateLimited', true, false],
  ['401', http(401), 'CredentialsRejected', false, false],
  ['403', http(403), 'CredentialsRejected', false, false],
  ['400', http(400), 'InvalidInput', false, true],
  ['404', http(404), 'NotFound', false, true],
  ['409', http(409), 'StateConflict', false, true],
  ['405', http(405), 'InvalidInput', false, true],
  ['413', http(413), 'InvalidInput', false, true],
  ['415', http(415), 'InvalidInput', false, true],
  ['422', http(422), 'InvalidInput', false, true],
  ['a request we refuse ourselves', { kind: 'request', mayHaveLeft: false }, 'InvalidInput', false, true],
  ['an answer that fits no schema', { kind: 'unexpected', httpStatus: 201 }, 'UnexpectedResponse', false, false],
  ['a redirection', http(302), 'UnexpectedResponse', false, false],
  ['a 4xx nobody knows', http(418), 'UnexpectedResponse', false, false],
  ['no status at all', { kind: 'http' }, 'UnexpectedResponse', false, false],
];

describe('the one place that rules on answers', () => {
  test.each(RULES)('takes %s for %j: %s (retried as it is: %s)', (_name, fields, type, retryable) => {
    expect(classify(errorOf(fields))).toMatchObject({ type, retryable });
    expect(failedWith(toApplicationFailure(errorOf(fields), FIRST))).toMatchObject({ type, retryable });
  });

  test.each(RULES)(
    'after an earlier attempt that may have acted, %s, %j: %s',
    (_name, fields, type, retryable, refusal) => {
      const failed = failedWith(toApplicationFailure(errorOf(fields), LATER));
      expect(failed.details.mayHaveLeft).toBe(true);
      if (refusal) {
        expect(failed).toMatchObject({ type: 'OutcomeUnknown', retryable: false, details: { disbelieved: type } });
      } else {
        expect(failed).toMatchObject({ type, retryable });
        expect(failed.details).not.toHaveProperty('disbelieved');
      }
    },
  );

  test('knows every kind of error that the client can throw', () => {
    const ruled = new Set(RULES.map(([, fields]) => fields.kind));
    expect([...ruled].toSorted()).toEqual([...PROVIDER_ERROR_KINDS].toSorted());
  });

  test('never takes any answer outside 2xx for proof that nothing was done once an earlier attempt may have acted', () => {
    const conclusive = ['InvalidInput', 'NotFound', 'StateConflict'];
    for (let status = 300; status < 600; status += 1) {
      const { type } = failedWith(toApplicationFailure(errorOf(http(status)), LATER));
      expect(conclusive).not.toContain(type);
    }
  });

  test('believes every refusal of a read, which can not have done anything', () => {
    const refusals = RULES.filter(([, , , , refusal]) => refusal);
    const believed = refusals.map(
      ([, fields]) => failedWith(toApplicationFailure(errorOf(fields), READ_KNOWLEDGE)).type,
    );
    expect(believed).toEqual(refusals.map(([, , type]) => type));
  });

  test('hands on the wait that the service asked for, and only where the call is repeated', () => {
    const limited = errorOf({ ...http(429), retryAfterMs: 7_000 });
    expect(failedWith(toApplicationFailure(limited, LATER))).toMatchObject({
      nextRetryDelay: 7_000,
      details: { retryAfterMs: 7_000 },
    });
    expect(failedWith(toApplicationFailure(errorOf(http(429)), LATER)).nextRetryDelay).toBeUndefined();
    const refused = errorOf({ ...http(401), retryAfterMs: 7_000 });
    expect(failedWith(toApplicationFailure(refused, FIRST)).nextRetryDelay).toBeUndefined();
  });

  test('keeps a call that was held back, and nothing else, out of the log of failures and their metric', () => {
    const fields = { kind: 'refused', operation: 'createCharge', mayHaveLeft: false } as const;
    const heldBack = toApplicationFailure(new CallHeldBack('not sent yet', fields), LATER);
    expect(heldBack).toMatchObject({ type: 'ProviderUnavailable', category: ApplicationFailureCategory.BENIGN });
    for (const [, others] of RULES)
      expect(toApplicationFailure(errorOf(others), LATER).category).not.toBe(ApplicationFailureCategory.BENIGN);
  });

  test('spreads the retries of a POST, as the server would not: about twice as long each time, a minute at most', () => {
    const delays = (attempt: number, error = errorOf(http(503))) =>
      Array.from({ length: 50 }, () =>
        Number(failedWith(toApplicationFailure(error, { ...LATER, attempt })).nextRetryDelay),
      );
    for (const [attempt, meanMs] of [
      [1, 1_000],
      [2, 2_000],
      [5, 16_000],
      [7, 60_000],
      [2_000, 60_000],
    ] as const) {
      const all = delays(attempt);
      expect(Math.min(...all)).toBeGreaterThanOrEqual(0.75 * meanMs);
      expect(Math.max(...all)).toBeLessThanOrEqual(1.25 * meanMs);
      expect(new Set(all).size).toBeGreaterThan(10);
    }
    expect(new Set(delays(3, errorOf({ ...http(429), retryAfterMs: 7_000 })))).toEqual(new Set([7_000]));
    const refused = toApplicationFailure(errorOf(http(401)), { ...FIRST, attempt: 1 });
    expect(failedWith(refused).nextRetryDelay).toBeUndefined();
  });

  test('keeps what support will ask for', () => {
    const fields = { ...http(409), requestId: 'r-1', category: 'c', description: 'd', moreInfo: 'm', retryAfterMs: 1 };
    const { kind: _kind, ...kept } = fields;
    expect(failedWith(toApplicationFailure(errorOf(fields), FIRST)).details).toEqual({ ...kept, mayHaveLeft: true });
  });

  test('says that nothing left only where this call and every earlier one are proven not to have left', () => {
    const refused = errorOf({ kind: 'refused', mayHaveLeft: false });
    expect(failedWith(toApplicationFailure(refused, FIRST)).details.mayHaveLeft).toBe(false);
    expect(failedWith(toApplicationFailure(refused, LATER)).details.mayHaveLeft).toBe(true);
    expect(failedWith(toApplicationFailure(errorOf({ kind: 'lost' }), FIRST)).details.mayHaveLeft).toBe(true);
  });

  test('leaves a failure that already has its type as it is', () => {
    const typed = ApplicationFailure.nonRetryable('window', 'OutcomeUnknown');
    expect(toApplicationFailure(typed, LATER)).toBe(typed);
  });

  test.each([new TypeError('boom'), 'boom', undefined, { status: 400 }])(
    'takes a fault of our own, %p, for no answer',
    (error) => {
      expect(failedWith(toApplicationFailure(error, FIRST))).toMatchObject({
        type: 'UnexpectedResponse',
        retryable: false,
        details: { mayHaveLeft: true },
      });
    },
  );
});
