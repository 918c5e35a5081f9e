import {
  ActivityFailure,
  ApplicationFailure,
  type RetryState,
  TimeoutFailure,
  type TimeoutType,
} from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { markSealed, undecodable } from '../../src/contract/payload-marks.js';
import { type ClassifiedFailure, classifyFailure } from '../../workflows/steps/failures.js';

/** As a workflow meets the failure of an activity that failed with `cause`. */
function failed(cause: Error, retryState: RetryState = 'NON_RETRYABLE_FAILURE'): ActivityFailure {
  return new ActivityFailure('Activity task failed', 'createCharge', '1', retryState, 'worker', cause);
}
/** With details that a worker has encrypted, as those of all our activities. */
const application = (type: string, ...details: unknown[]) => inClear(type, ...details.map(markSealed));
const inClear = (type: string, ...details: unknown[]) => ApplicationFailure.nonRetryable('why', type, ...details);
const timeout = (type: TimeoutType) => new TimeoutFailure('timed out', undefined, type);

describe('the failure of a money POST', () => {
  test.each<[string, unknown, ClassifiedFailure['next'], boolean]>([
    // what, the error, what comes next, whether the request may have left
    ['400, believed', failed(application('InvalidInput', { mayHaveLeft: true })), 'refuse', true],
    [
      '400 at a first attempt that was refused a connection',
      failed(application('InvalidInput', { mayHaveLeft: false })),
      'refuse',
      false,
    ],
    ['404, believed', failed(application('NotFound', { mayHaveLeft: true })), 'refuse', true],
    ['409, believed', failed(application('StateConflict', { mayHaveLeft: true })), 'refuse', true],
    ['401 or 403', failed(application('CredentialsRejected', { mayHaveLeft: true })), 'credentials', true],
    ['no answer', failed(application('ProviderUnavailable', { mayHaveLeft: true })), 'again', true],
    ['a refused connection', failed(application('ProviderUnavailable', { mayHaveLeft: false })), 'again', false],
    [
      'no answer until the window closed',
      failed(application('ProviderUnavailable', { mayHaveLeft: true }), 'TIMEOUT'),
      'closed',
      true,
    ],
    ['429', failed(application('RateLimited', { mayHaveLeft: true })), 'again', true],
    [
      '429 until the window closed',
      failed(application('RateLimited', { mayHaveLeft: true }), 'TIMEOUT'),
      'closed',
      true,
    ],
    [
      'the activity refused to send, its window had closed',
      failed(application('OutcomeUnknown', { mayHaveLeft: false, windowClosed: true })),
      'closed',
      false,
    ],
    [
      'a 409 that is not believed',
      failed(application('OutcomeUnknown', { mayHaveLeft: true, disbelieved: 'StateConflict' })),
      'readFirst',
      true,
    ],
    [
      'a 400 that is not believed',
      failed(application('OutcomeUnknown', { mayHaveLeft: true, disbelieved: 'InvalidInput' })),
      'readOnly',
      true,
    ],
    [
      'a 404 that is not believed',
      failed(application('OutcomeUnknown', { mayHaveLeft: true, disbelieved: 'NotFound' })),
      'readOnly',
      true,
    ],
    [
      'several are ambiguous',
      failed(application('OutcomeUnknown', { mayHaveLeft: true, ambiguousIds: ['a', 'b'] })),
      'readOnly',
      true,
    ],
    [
      'an answer that fits no schema',
      failed(application('UnexpectedResponse', { mayHaveLeft: true })),
      'readFirst',
      true,
    ],
    ['another sum than was asked for', failed(application('AmountMismatch', { mayHaveLeft: true })), 'readFirst', true],
    ['a type of tomorrow', failed(application('SomethingElse', { mayHaveLeft: true })), 'readFirst', true],
    ['an application failure without a type', failed(ApplicationFailure.nonRetryable('why')), 'readFirst', true],
    ['a try that took too long', failed(timeout('START_TO_CLOSE')), 'again', true],
    ['a worker that died', failed(timeout('HEARTBEAT')), 'again', true],
    ['a worker that died as the window closed', failed(timeout('HEARTBEAT'), 'TIMEOUT'), 'closed', true],
    ['the window has closed', failed(timeout('SCHEDULE_TO_CLOSE')), 'closed', true],
    ['a fault of ours', failed(new Error('undefined is not a function')), 'readFirst', true],
    ['a failure of the engine', new Error('the engine'), 'readFirst', true],
    ['nothing that is an error', 'text', 'readFirst', true],
    ['a local try that answers by itself', application('InvalidInput', { mayHaveLeft: false }), 'refuse', false],
    ['a local try that took too long', timeout('START_TO_CLOSE'), 'again', true],
  ])('%s', (_what, error, next, mayHaveLeft) => {
    expect(classifyFailure(error)).toMatchObject({ next, mayHaveLeft });
  });

  test.each<[string, unknown[]]>([
    ['none', []],
    ['those that nobody can decode', [markSealed(undecodable('malformed'))]],
    ['a text', ['mayHaveLeft: false']],
    ['null', [null]],
    ['in clear', [{ mayHaveLeft: false, windowClosed: true, retryAfterMs: 7_000, ambiguousIds: ['a'] }]],
  ])('counts as one that says nothing where its details are %s', (_what, details) => {
    for (const type of ['InvalidInput', 'ProviderUnavailable', 'RateLimited', 'OutcomeUnknown', 'SomethingElse']) {
      const classified = classifyFailure(failed(inClear(type, ...details)));
      expect(classified).toMatchObject({ next: 'readFirst', mayHaveLeft: true, waitMs: 0, ambiguousIds: [] });
    }
  });

  test('hands on how long to wait, which transactions are ambiguous, and what the service said', () => {
    const error = application('RateLimited', { mayHaveLeft: true, retryAfterMs: 7_000, ambiguousIds: ['a'] });
    expect(classifyFailure(failed(error))).toMatchObject({ waitMs: 7_000, ambiguousIds: ['a'], message: 'why', error });
  });
});

test('is never classified by details that another worker can read: the task fails', () => {
  const details = markSealed(undecodable('unknown key id', 'k2'));
  expect(() => classifyFailure(failed(application('InvalidInput', details)))).toThrow(/give it the missing key/);
  expect(() => classifyFailure(failed(inClear('InvalidInput', undecodable('unknown key id', 'k2'))))).not.toThrow();
});
