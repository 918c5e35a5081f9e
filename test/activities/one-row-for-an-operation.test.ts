import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { beforeEach, describe, expect, test } from 'vitest';
import { createBillingActivities } from '../../activities/billing.js';
import { buildActivities, checkCall } from '../../activities/build-activities.js';
import { createActivities } from '../../activities/index.js';
import { transactionRecord } from '../../activities/records.js';
import { transactionRows, type TransactionTable } from '../../activities/transactions.js';
import type { CreateTransactionCall } from '../../src/contract/activity-calls.js';
import type { TransactionActivities, TransactionOperation } from '../../src/contract/activities.js';
import { markSealed, undecodable } from '../../src/contract/payload-marks.js';
import { type ProviderClient, ProviderError, type Transaction } from '../../src/provider/index.js';
import { CHARGE_ID, PAYMENT_ID } from '../provider/support/fake-service.js';
import { type AttemptInfo, type Failed, failedWith, keyed, ofNoFlow, ORIGINAL_RUN_ID, RUN_ID } from './support.js';
import { createBulkActivities } from '../../activities/bulk.js';
import { createNotificationActivities } from '../../activities/notifications.js';
import { createReconcileActivities } from '../../activities/reconcile.js';
import { sealedCalls } from '../support/sealed-calls.js';

/** A kind of transaction that there is none of. */
interface DonationCall extends CreateTransactionCall {
  donation: { cause: string };
}
interface Invented {
  Donation: TransactionOperation<'Donations', DonationCall>;
}

/** What the invented service has been asked, and what stands in its list. */
let asked: unknown[];
let listed: Transaction[];
beforeEach(() => {
  asked = [];
  listed = [];
});

const MADE: Transaction = { id: CHARGE_ID, status: 'Succeed', amount: 1095 };
const answer = <Data>(data: Data) => Promise.resolve({ data, httpStatus: 200, requestId: 'req-1' });

/** All that is written for a further kind beside the method of the client and the step of a flow. */
const TABLE: TransactionTable<Invented> = {
  Donation: {
    plural: 'Donations',
    amountOf: () => undefined,
    post: (_provider, { paymentId, donation }, { idempotencyKey, currency }) => {
      asked.push({ paymentId, ...donation, idempotencyKey, currency });
      if (donation.cause === 'refused')
        throw new ProviderError('no', {
          kind: 'http',
          operation: 'donate',
          mayHaveLeft: true,
          failureType: 'StateConflict',
        });
      return answer(MADE);
    },
    get: (_provider, paymentId, id) => {
      asked.push({ paymentId, id });
      return answer(MADE);
    },
    list: (_provider, paymentId) => {
      asked.push({ paymentId });
      return answer(listed);
    },
    record: transactionRecord,
  },
};

const DEPS = {
  providers: new Map([['default', {} as ProviderClient]]),
  units: new Map([['default', { holdMs: 1, madeUnder: 'test/shop-1' }]]),
  engine: {} as never,
  now: Date.now,
};
const inClear = buildActivities<typeof DEPS, TransactionActivities<Invented>>(
  DEPS,
  transactionRows(TABLE),
  (argument) => checkCall(DEPS, argument),
);
const activities = sealedCalls(inClear);

async function run<Answer>(activity: () => Promise<Answer>, info: AttemptInfo = {}): Promise<Answer> {
  const environment = new MockActivityEnvironment(
    { ...info, workflowExecution: { workflowId: 'payment-order-1001', runId: RUN_ID } },
    { logger: new DefaultLogger('ERROR') },
  );
  return (await environment.run(async () => await activity())) as Answer;
}

async function fail(activity: () => Promise<unknown>, info: AttemptInfo = {}): Promise<Failed> {
  return await run(activity, info).then(
    (result) => Promise.reject(new Error(`succeeded: ${JSON.stringify(result)}`)),
    failedWith,
  );
}

const KEY = 'payment-order-1001:createDonation:1';
const where = { businessUnit: 'default', paymentId: PAYMENT_ID, currency: 'USD' };
const call = { ...keyed(KEY), ...where, additionalDetails: {}, donation: { cause: 'trees' } } satisfies DonationCall;
const record = { transactionId: CHARGE_ID, status: 'Succeed', amount: 1095 };

describe('one row for an invented kind of transaction', () => {
  test('gives it create, get and list by its names', () => {
    expect(Object.keys(activities)).toEqual(['createDonation', 'getDonation', 'listDonations']);
  });

  test('sends its POST under the key, and hands back the record', async () => {
    expect(await run(() => activities.createDonation(call))).toMatchObject(record);
    expect(asked).toEqual([{ paymentId: PAYMENT_ID, cause: 'trees', idempotencyKey: KEY, currency: 'USD' }]);
  });

  test('reads one of it and all of it', async () => {
    listed = [MADE];
    expect(await run(() => activities.getDonation({ ...where, transactionId: CHARGE_ID }))).toMatchObject(record);
    expect(await run(() => activities.listDonations(where))).toMatchObject([record]);
  });

  test('believes no refusal of it after an attempt that may have left', async () => {
    const refused = () => activities.createDonation({ ...call, donation: { cause: 'refused' } });
    expect(await fail(refused)).toMatchObject({ type: 'StateConflict', retryable: false });
    expect(await fail(refused, { attempt: 2 })).toMatchObject({
      type: 'OutcomeUnknown',
      details: { disbelieved: 'StateConflict' },
    });
  });

  test('adopts in a run made by a reset what the earlier run did, and sends nothing', async () => {
    listed = [{ ...MADE, additionalDetails: { holdfast_key: KEY } }];
    const again = { ...call, originalRunId: ORIGINAL_RUN_ID };
    expect(await run(() => activities.createDonation(again))).toMatchObject(record);
    expect(asked).toEqual([{ paymentId: PAYMENT_ID }]);
  });

  test('names it in words where several are ambiguous', async () => {
    listed = [MADE, { ...MADE, id: PAYMENT_ID }];
    const again = { ...call, originalRunId: ORIGINAL_RUN_ID };
    const failed = await fail(() => activities.createDonation(again));
    expect(failed).toMatchObject({ type: 'OutcomeUnknown', retryable: false });
    expect(failed.message).toContain('these donations are ambiguous, each may be ours or foreign');
  });

  test('sends nothing of a payment that was made under another app id', async () => {
    const elsewhere = { ...call, madeUnder: 'live/shop-2' };
    expect(await fail(() => activities.createDonation(elsewhere))).toMatchObject({ type: 'ProviderUnavailable' });
    expect(asked).toEqual([]);
  });
});

describe('a call that this worker can not decode', () => {
  const unread = undecodable('unknown key id') as never;

  test('of the invented kind is left to a worker that has the key', async () => {
    const create = () => activities.createDonation(unread);
    expect(await fail(create)).toMatchObject({ type: 'ProviderUnavailable', retryable: true });
  });

  const payments = Object.entries(createActivities(DEPS)) as [string, (argument: unknown) => Promise<unknown>][];
  test.each(payments)('of %s is left to a worker that has the key', async (_name, activity) => {
    expect(await fail(() => activity(unread))).toMatchObject({
      type: 'ProviderUnavailable',
      retryable: true,
      message: "This worker can't decode the call (unknown key id); give it the missing key",
      details: { mayHaveLeft: true },
    });
  });

  const billing = createBillingActivities(DEPS);
  test.each(Object.entries(billing) as typeof payments)(
    'of %s fails in a way that is tried again',
    async (_name, activity) => {
      await expect(run(() => activity(unread))).rejects.toThrow("This worker can't decode the call (unknown key id)");
    },
  );
});

describe('a call in clear, which anyone with access to Temporal can have a worker execute', () => {
  const none = { ...DEPS, notifications: { toPrivate: true, units: new Map() } } as never;
  const tables = [
    createActivities(DEPS),
    createBillingActivities(DEPS),
    createNotificationActivities(none),
    createReconcileActivities(none),
    createBulkActivities(none),
  ];
  const all = tables.flatMap((table) => Object.entries(table)) as [string, (call: unknown) => Promise<unknown>][];
  test.each(all)('of %s is refused, and nothing done', async (_name, activity) => {
    expect(await fail(() => activity({ ...call, by: 'a stranger' }))).toMatchObject({
      type: 'InvalidInput',
      retryable: false,
      message: expect.stringContaining('this one came in clear') as string,
    });
  });

  test.each(all)('of %s without a workflow is refused, encrypted or not', async (_name, activity) => {
    for (const given of [undefined, markSealed({ ...call })]) {
      const asked = ofNoFlow(async () => await activity(given));
      await expect(asked).rejects.toMatchObject({
        type: 'InvalidInput',
        message: expect.stringContaining('only for a workflow') as string,
      });
    }
  });

  test('of the invented kind does not reach the service', async () => {
    expect(await fail(() => inClear.createDonation({ ...call }))).toMatchObject({
      type: 'InvalidInput',
      retryable: false,
    });
    expect(asked).toEqual([]);
  });
});
