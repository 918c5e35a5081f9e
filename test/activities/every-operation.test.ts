import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSIONS, type ApiVersion, type OperationName, OPERATIONS } from '../../src/provider/index.js';
import {
  type ActivityOperation,
  callsFor,
  CAPTURED,
  type Ids,
  MONEY,
  NO_ACTIVITY,
  NOTHING,
  REFUNDED,
} from './calls.js';
import { HOLDER, Prepared } from './prepared.js';
import { GOOD_CARD } from '../sandbox/support/sandbox.js';
import { Harness, Service } from './support.js';

/** Random, so that any digits may stand in one. */
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

let service: Service;
const prepared = new Map<ApiVersion, Prepared>();
beforeAll(async () => {
  service = await Service.start();
  for (const version of API_VERSIONS) prepared.set(version, new Prepared(service.sandbox, version));
});
afterAll(async () => {
  for (const each of prepared.values()) await each.close();
  await service.close();
});

const NAMES = Object.keys(OPERATIONS) as OperationName[];
const WITH_ACTIVITY = NAMES.filter((name): name is ActivityOperation => !(name in NO_ACTIVITY));
const isThere = (name: OperationName, version: ApiVersion): boolean =>
  API_VERSIONS.indexOf(version) >= API_VERSIONS.indexOf(OPERATIONS[name].since);
const PAIRS = WITH_ACTIVITY.flatMap((name) => API_VERSIONS.map((version) => [name, version] as const));
/** The interface offers it at every version; the service has been seen to answer it at the newest alone. */
const isRefused = (name: OperationName, version: ApiVersion): boolean => name.includes('Risk') && version !== '1.3.0';
const THERE = PAIRS.filter(([name, version]) => isThere(name, version) && !isRefused(name, version));
const REFUSED = PAIRS.filter(([name, version]) => isRefused(name, version));
const NOT_YET = PAIRS.filter(([name, version]) => !isThere(name, version));

const done = (ids: Ids) => ({ transactionId: ids.transactionId, status: 'Succeed' });
const made = { transactionId: expect.any(String), status: 'Succeed' };
const ours = { ...made, reconciliationId: 'order-1001', holdfastKey: expect.stringMatching(/^key-of-/) };
const whole = (ids: Ids) => ({ ...done(ids), amount: MONEY.amount });
const analysed = { decision: 'approve', score: expect.any(Number), status: 'Succeed' };
const customer = ({ customerReference }: Ids) => ({ customerId: expect.any(String), customerReference });
const card = ({ token }: Ids) => ({ token, last4Digits: '1111', binNumber: '411111' });
const stored = (ids: Ids) => ({
  ...card(ids),
  state: 'assigned',
  customerId: ids.customerId,
  fingerprint: expect.any(String),
});

/** What each activity has to answer. */
const ANSWERS: Record<ActivityOperation, (ids: Ids) => unknown> = {
  createPayment: () => ({ paymentId: expect.any(String), ...MONEY, status: 'Initialized' }),
  getPayment: ({ paymentId }) => ({ paymentId, ...MONEY, status: 'Initialized' }),
  createAuthorization: () => ({ ...ours, amount: MONEY.amount }),
  getAuthorization: whole,
  listAuthorizations: (ids) => [whole(ids)],
  createCharge: () => ({ ...ours, amount: MONEY.amount }),
  getCharge: whole,
  listCharges: (ids) => [whole(ids)],
  createCapture: () => ({ ...ours, amount: CAPTURED }),
  getCapture: (ids) => ({ ...done(ids), amount: CAPTURED }),
  listCaptures: (ids) => [{ ...done(ids), amount: CAPTURED }],
  createVoid: () => made,
  getVoid: done,
  listVoids: (ids) => [done(ids)],
  createRefund: () => ({ ...ours, amount: REFUNDED }),
  getRefund: (ids) => ({ ...done(ids), amount: REFUNDED }),
  listRefunds: (ids) => [{ ...done(ids), amount: REFUNDED }],
  createCredit: () => ({ ...ours, amount: MONEY.amount }),
  getCredit: whole,
  listCredits: (ids) => [whole(ids)],
  createRiskAnalysis: () => ({ ...analysed, transactionId: expect.any(String) }),
  getRiskAnalysis: ({ transactionId }) => ({ ...analysed, transactionId }),
  listRiskAnalyses: ({ transactionId }) => [{ ...analysed, transactionId }],
  createCustomer: customer,
  getCustomer: customer,
  findCustomer: customer,
  storePaymentMethod: stored,
  getPaymentMethod: stored,
  listPaymentMethods: (ids) => [stored(ids)],
  deletePaymentMethod: () => undefined,
  getToken: card,
};

/** The address that the table of operations gives a call about these ids. */
function addressOf(name: ActivityOperation, ids: Ids): string {
  const { method, path } = OPERATIONS[name];
  const values: Record<string, string> = { ...ids };
  const filled = path.replace(/\{(\w+)\}/g, (_braces, parameter: string) => values[parameter] ?? ids.transactionId);
  return `${method} ${filled}`;
}

describe('every operation of the client', () => {
  test('is an activity, except for those that no workflow calls and the one that must never be one', () => {
    const harness = new Harness({ baseUrl: service.sandbox.url });
    const others = [
      'getPaymentAndTransactions',
      'countOutgoing',
      'tellSubscription',
      'deliverEvent',
      'findCreator',
      'findActionsBefore',
      'findEarlierResult',
      'findEarlierRun',
      'findEarlierPayment',
      'findSentBefore',
      'findSiblingThatSent',
      'taskWasLost',
    ];
    expect(harness.names().toSorted()).toEqual([...WITH_ACTIVITY, ...others].toSorted());
  });

  test.each(THERE)('works through activity, client and sandbox: %s at %s', async (name, apiVersion) => {
    const ids = (await prepared.get(apiVersion)?.for(name)) ?? NOTHING;
    const harness = new Harness({ baseUrl: service.sandbox.url, apiVersion });
    const key = `key-of-${name}-at-${apiVersion}`;
    const answer: unknown = await harness.run(name, callsFor(ids, key)[name]);
    expect({ answer }).toMatchObject({ answer: ANSWERS[name](ids) });

    expect(harness.requests).toEqual([addressOf(name, ids)]);
    expect(harness.keys).toEqual([OPERATIONS[name].keyed ? key : undefined]);
    // What comes back is for a history: it must hold nothing that the flow has no use for.
    const text = JSON.stringify(answer) ?? '';
    // Ids of the provider are random digits, of which some look like a card number: the number itself is looked for.
    for (const personal of [HOLDER, 'Anastasia', 'anastasia@', 'Miami', 'raw', GOOD_CARD]) {
      expect(text.replaceAll(UUID, '')).not.toContain(personal);
    }
    await harness.close();
  });

  test.each(API_VERSIONS)(
    'that is no activity works through client and sandbox: createToken at %s',
    async (version) => {
      const { token } = (await prepared.get(version)?.token()) ?? {};
      expect(token).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  test.each(REFUSED)('is refused by the service and by nobody before it: %s at %s', async (name, apiVersion) => {
    const harness = new Harness({ baseUrl: service.sandbox.url, apiVersion });
    const failed = await harness.fail(name, callsFor(NOTHING)[name]);
    expect(failed).toMatchObject({ type: 'InvalidInput', retryable: false, details: { httpStatus: 400 } });
    expect(harness.requests).toEqual([addressOf(name, NOTHING)]);
    await harness.close();
  });

  test.each(NOT_YET)('is refused before sending where its API version has none: %s at %s', async (name, apiVersion) => {
    const harness = new Harness({ baseUrl: service.sandbox.url, apiVersion });
    const failed = await harness.fail(name, callsFor(NOTHING)[name]);
    expect(failed).toMatchObject({ type: 'InvalidInput', retryable: false, details: { mayHaveLeft: false } });
    expect(failed.message).toContain(`${apiVersion} has no ${name}`);
    expect(harness.requests).toEqual([]);
    await harness.close();
  });
});
