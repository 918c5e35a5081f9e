import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FailureType } from '../../src/contract/names.js';
import { API_VERSIONS, type ApiVersion, type OperationName, OPERATIONS } from '../../src/provider/index.js';
import type { FaultInput } from '../../sandbox/control.js';
import { EXAMPLES } from '../provider/support/examples.js';
import { failureOf } from '../provider/support/fake-service.js';
import { fullOr } from '../support/counts.js';
import { type ActivityOperation, callsFor, NO_ACTIVITY, NOTHING } from './calls.js';
import { Prepared } from './prepared.js';
import { Harness, Service } from './support.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());
afterEach(() => service.sandbox.control.clearFaults());

const NAMES = Object.keys(OPERATIONS) as OperationName[];
const isActivity = (name: OperationName): name is ActivityOperation => !(name in NO_ACTIVITY);
const at = (version: ApiVersion): OperationName[] =>
  NAMES.filter((name) => API_VERSIONS.indexOf(version) >= API_VERSIONS.indexOf(OPERATIONS[name].since));

interface Expected {
  type: FailureType;
  retryable: boolean;
}
const REFUSED = { retryable: false };
const SENT_AGAIN = { retryable: true };

/** What the documentation says of each status; where an operation differs, it is named. */
function ofStatus(status: number, name: OperationName): Expected {
  switch (status) {
    case 400:
    case 405:
      return { type: 'InvalidInput', ...REFUSED };
    case 401:
    case 403:
      return { type: 'CredentialsRejected', ...REFUSED };
    case 404:
      return { type: 'NotFound', ...REFUSED };
    case 409:
      return {
        type: name === 'createCustomer' || name === 'updateCustomer' ? 'ReferenceConflict' : 'StateConflict',
        ...REFUSED,
      };
    case 429:
      return { type: 'RateLimited', ...SENT_AGAIN };
    case 500:
    case 502:
    case 503:
    case 504:
      return { type: 'ProviderUnavailable', ...SENT_AGAIN };
    default:
      throw new Error(`what does ${status} mean?`);
  }
}

/** What the client's own table documents anywhere, and what comes from between us and the service. */
const DOCUMENTED = NAMES.flatMap((name) =>
  API_VERSIONS.flatMap((version) => Object.keys(OPERATIONS[name].failures(version))),
);
const STATUSES = [...new Set([...DOCUMENTED.map(Number), 403, 429, 502, 504])].toSorted();

type Row = readonly [name: string, fault: FaultInput, expected: (name: OperationName) => Expected];
const lost: Expected = { type: 'ProviderUnavailable', ...SENT_AGAIN };
const ROWS: readonly Row[] = [
  ...STATUSES.map((status): Row => [`${status}`, { action: 'status', status }, (name) => ofStatus(status, name)]),
  ['a closed connection', { action: 'refuse' }, () => lost],
  ['a lost reply', { action: 'drop_reply' }, () => lost],
  ['an answer cut short', { action: 'garbage' }, () => ({ type: 'UnexpectedResponse', ...REFUSED })],
];
/** What a failure means changes between the oldest version and the next; the short run takes the oldest and the newest. */
const VERSIONS = API_VERSIONS.filter((_version, index) => index % fullOr(1, API_VERSIONS.length - 1) === 0);
const CASES = ROWS.flatMap(([name, ...row]) => VERSIONS.map((version) => [name, version, ...row] as const));

describe('every failure of every operation has its type, in the client and in the activity alike', () => {
  test.each(CASES)('%s at %s', async (_name, apiVersion, fault, expected) => {
    const harness = new Harness({ baseUrl: service.sandbox.url, apiVersion });
    const prepared = new Prepared(service.sandbox, apiVersion);
    await service.sandbox.control.addFault({ ...fault, path: '*' });
    const calls = callsFor(NOTHING);
    for (const name of at(apiVersion)) {
      const { type, retryable } = expected(name);
      const error = await failureOf(EXAMPLES[name].call(prepared.client));
      expect([name, error.failureType, error.mayHaveLeft]).toEqual([name, type, true]);
      if (!isActivity(name)) continue;
      if (name === 'findCustomer' && type === 'NotFound') {
        // A reference that nobody has is what was asked, not a failure.
        expect(await harness.run(name, calls[name])).toBeUndefined();
        continue;
      }
      const failed = await harness.fail(name, calls[name]);
      // Nothing moves twice by a second deletion, so one with an unreadable answer is sent again.
      const again = retryable || (name === 'deletePaymentMethod' && type === 'UnexpectedResponse');
      // The customer, who would show the card, is refused as well: whether it is on file is not known.
      const isUnread = name === 'getPaymentMethod' && fault.status === 405;
      const { type: thrown, retryable: isRetried } = isUnread ? lost : { type, retryable: again };
      expect([name, failed.type, failed.retryable]).toEqual([name, thrown, isRetried]);
      expect(failed.details).toMatchObject({ mayHaveLeft: true });
    }
    await prepared.close();
    await harness.close();
  });

  test('and no status that any operation documents is left out', () => {
    expect(STATUSES).toEqual([400, 401, 403, 404, 405, 409, 429, 500, 502, 503, 504]);
  });

  test.each(VERSIONS)(
    'and a refusal of a keyed call after an attempt that may have acted is not believed at %s',
    async (apiVersion) => {
      const harness = new Harness({ baseUrl: service.sandbox.url, apiVersion });
      const calls = callsFor(NOTHING);
      for (const status of [400, 404, 409]) {
        await service.sandbox.control.addFault({ action: 'status', status, path: '*' });
        for (const name of at(apiVersion)) {
          if (!isActivity(name) || !OPERATIONS[name].keyed) continue;
          const failed = await harness.fail(name, calls[name], { attempt: 2 });
          expect([name, failed.type, failed.details.disbelieved]).toEqual([
            name,
            'OutcomeUnknown',
            ofStatus(status, name).type,
          ]);
        }
        await service.sandbox.control.clearFaults();
      }
      await harness.close();
    },
  );
});
