import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PaymentRecord } from '../../src/contract/records.js';
import { CHARGE_BODY, fakeService, json, PAYMENT_BODY, PAYMENT_ID } from '../provider/support/fake-service.js';
import { callsFor, NOTHING } from './calls.js';
import { Harness, ORIGINAL_RUN_ID, paymentCall, type ReadyCharge, RUN_ID, Service } from './support.js';

/** No run of the flow has ended. */
const OPEN = { toldEnd: () => Promise.resolve(undefined) };

let service: Service;
let harness: Harness;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());
beforeEach(() => {
  harness = new Harness({ baseUrl: service.sandbox.url, engine: OPEN });
});
afterEach(async () => {
  await harness.close();
  await service.sandbox.control.clearFaults();
});

/** A charge as a run made by a reset sends it: the original run had another id. */
async function chargeOfResetRun(): Promise<ReadyCharge> {
  return await service.readyCharge({ originalRunId: ORIGINAL_RUN_ID });
}

/** What the run before the reset did. */
async function chargedBefore(charge: ReadyCharge): Promise<string> {
  const earlier = new Harness({ baseUrl: service.sandbox.url });
  const { transactionId } = await earlier.run('createCharge', charge.call, { runId: ORIGINAL_RUN_ID });
  await earlier.close();
  return transactionId;
}

describe('a charge in a run made by a reset', () => {
  test('adopts what the earlier run did, and sends nothing', async () => {
    const charge = await chargeOfResetRun();
    const transactionId = await chargedBefore(charge);
    expect(await harness.run('createCharge', charge.call)).toMatchObject({ transactionId, status: 'Succeed' });
    expect(harness.requests).toEqual([`GET /payments/${charge.paymentId}/charges`]);
    expect(await service.ledger(charge)).toHaveLength(1);
  });

  test('adopts it even after the service has forgotten the key', async () => {
    const charge = await chargeOfResetRun();
    const transactionId = await chargedBefore(charge);
    await service.sandbox.control.advanceClock(25 * 3_600_000);
    expect(await harness.run('createCharge', charge.call)).toMatchObject({ transactionId });
    expect(harness.posts()).toEqual([]);
    expect(await service.ledger(charge)).toHaveLength(1);
  });

  test('sends only after a read has found nothing', async () => {
    const charge = await chargeOfResetRun();
    expect(await harness.run('createCharge', charge.call)).toMatchObject({ status: 'Succeed' });
    const path = `/payments/${charge.paymentId}/charges`;
    expect(harness.requests).toEqual([`GET ${path}`, `POST ${path}`]);
  });

  test.each([
    ['503', { action: 'status', status: 503 }],
    ['a dropped reply', { action: 'drop_reply' }],
    ['garbage', { action: 'garbage' }],
    ['429', { action: 'status', status: 429 }],
    ['404', { action: 'status', status: 404 }],
    ['409', { action: 'status', status: 409 }],
  ] as const)('sends nothing when the read ends with %s, and is tried again', async (_name, fault) => {
    const charge = await chargeOfResetRun();
    await service.sandbox.control.addFault({ ...fault, method: 'GET', path: `/payments/${charge.paymentId}/charges` });
    const failed = await harness.fail('createCharge', charge.call);
    expect(failed).toMatchObject({ type: 'ProviderUnavailable', retryable: true, details: { mayHaveLeft: true } });
    expect(failed.message).toContain('reset');
    expect(harness.posts()).toEqual([]);
    await service.sandbox.control.clearFaults();
    expect(await harness.run('createCharge', charge.call, { attempt: 2 })).toMatchObject({ status: 'Succeed' });
  });

  test('counts its read as not offered after three refusals over 15 minutes, and not by one after an outage', async () => {
    const charge = await chargeOfResetRun();
    const begun = Date.now();
    let now = begun;
    const clocked = new Harness({ baseUrl: service.sandbox.url, engine: OPEN, now: () => now });
    const path = `/payments/${charge.paymentId}/charges`;
    let attempt = 0;
    const answers = async (minutes: number, status: number): Promise<string> => {
      await service.sandbox.control.addFault({ action: 'status', status, method: 'GET', path, times: 1 });
      now = begun + minutes * 60_000;
      attempt += 1;
      const info = { attempt, scheduledTimestampMs: begun, heartbeatDetails: clocked.heartbeats.at(-1) };
      const { details, type } = await clocked.fail('createCharge', charge.call, info);
      return details.windowClosed === true ? 'not offered' : type;
    };
    const outage = [await answers(0, 503), await answers(8, 503), await answers(16, 404), await answers(17, 404)];
    const again = [await answers(20, 503), await answers(21, 404), await answers(30, 405), await answers(35, 404)];
    expect(new Set([...outage, ...again])).toEqual(new Set(['ProviderUnavailable']));
    expect(await answers(36, 501)).toBe('not offered');
    expect(clocked.posts()).toEqual([]);
    await clocked.close();
  });

  test('sends nothing when the read is refused for its credentials, and leaves them to an operator', async () => {
    const charge = await chargeOfResetRun();
    const path = `/payments/${charge.paymentId}/charges`;
    await service.sandbox.control.addFault({ action: 'status', status: 401, method: 'GET', path });
    expect(await harness.fail('createCharge', charge.call)).toMatchObject({ type: 'CredentialsRejected' });
    expect(harness.posts()).toEqual([]);
    await service.sandbox.control.clearFaults();
  });

  test('adopts the only charge of its payment where the service echoes neither key nor reference', async () => {
    const charge = await chargeOfResetRun();
    const { token } = charge.call.charge.paymentMethod;
    const made = await service.sandbox.api.charge(charge.paymentId, token, {}, charge.call.key);
    expect(await harness.run('createCharge', charge.call)).toMatchObject({ transactionId: made.body.id });
    expect(harness.posts()).toEqual([]);
  });

  test('sends nothing when several charges could be its own', async () => {
    const charge = await chargeOfResetRun();
    const stub = await fakeService(json(200, [CHARGE_BODY, { ...CHARGE_BODY, id: PAYMENT_ID }]));
    const unsure = new Harness({ baseUrl: stub.url });
    const failed = await unsure.fail('createCharge', charge.call);
    expect(failed).toMatchObject({ type: 'OutcomeUnknown', retryable: false, details: { mayHaveLeft: true } });
    expect(failed.message).toContain(`${CHARGE_BODY.id}, ${PAYMENT_ID}`);
    expect(unsure.posts()).toEqual([]);
    await unsure.close();
    await stub.close();
  });

  test.each([400, 404, 409])(
    'does not believe a refusal with %i: the run before may have acted, and lists lag',
    async (status) => {
      const charge = await chargeOfResetRun();
      await service.plant(charge, { action: 'status', status });
      const failed = await harness.fail('createCharge', charge.call);
      expect(harness.posts()).toHaveLength(1);
      expect(failed).toMatchObject({ type: 'OutcomeUnknown', details: { mayHaveLeft: true, httpStatus: status } });
    },
  );

  test('does not believe that its token was refused when the run before used it up', async () => {
    const unit = { app_id: 'lagging', private_key: 'k', public_key: 'p' };
    await service.sandbox.control.putBusinessUnit({
      ...unit,
      profile: { list_lag_ms: 30_000, state_checks: 'before_key_lookup' },
    });
    const lagging = new Harness({
      baseUrl: service.sandbox.url,
      engine: OPEN,
      unit: { appId: unit.app_id, privateKey: unit.private_key },
    });
    const { token } = await service.sandbox.control.tokenize({ cardNumber: '4111111111111111', publicKey: 'p' });
    const payment = await lagging.run('createPayment', paymentCall());
    const charge = await chargeOfResetRun();
    const call = {
      ...charge.call,
      paymentId: payment.paymentId,
      charge: { paymentMethod: { type: 'tokenized' as const, token } },
    };
    await lagging.run('createCharge', call, { runId: ORIGINAL_RUN_ID });
    expect(await lagging.fail('createCharge', call)).toMatchObject({ type: 'OutcomeUnknown' });
    expect(await service.ledger(charge)).toHaveLength(1);
    await lagging.close();
  });

  test('sends nothing when the window closed while it was reading', async () => {
    const charge = await chargeOfResetRun();
    const late = new Harness({ baseUrl: service.sandbox.url, engine: OPEN, now: () => charge.call.postUntil });
    const failed = await late.fail('createCharge', charge.call);
    expect(failed).toMatchObject({ type: 'OutcomeUnknown', details: { windowClosed: true, mayHaveLeft: true } });
    expect(late.posts()).toEqual([]);
    expect(await service.ledger(charge)).toEqual([]);
    await late.close();
  });

  test('whose window has closed already says that the run before may have acted', async () => {
    const charge = await chargeOfResetRun();
    const failed = await harness.fail('createCharge', { ...charge.call, postUntil: Date.now() - 1 });
    expect(failed.details).toMatchObject({ windowClosed: true, mayHaveLeft: true });
    expect(harness.posts()).toEqual([]);
  });

  test('adopts what the earlier run did even when its own window has closed', async () => {
    const charge = await chargeOfResetRun();
    const transactionId = await chargedBefore(charge);
    const late = { ...charge.call, postUntil: Date.now() - 1 };
    expect(await harness.run('createCharge', late)).toMatchObject({ transactionId });
  });
});

describe('a payment in a run made by a reset', () => {
  const EARLIER: PaymentRecord = {
    paymentId: '6f3d2c1a-0b9e-4a77-8c55-1d2e3f405162',
    amount: 1095,
    currency: 'USD',
    status: 'Initialized',
  };
  const call = (): ReturnType<typeof paymentCall> => paymentCall({ originalRunId: ORIGINAL_RUN_ID });

  test('is the one that the earlier run made, and nothing is sent', async () => {
    const asked: string[][] = [];
    const engine = {
      earlierPayment: async (workflowId: string, runId: string) => {
        asked.push([workflowId, runId]);
        return EARLIER;
      },
    };
    const adopting = new Harness({ baseUrl: service.sandbox.url, engine });
    expect(await adopting.run('createPayment', call(), { workflowId: 'payment-order-7' })).toEqual(EARLIER);
    expect(asked).toEqual([['payment-order-7', RUN_ID]]);
    expect(adopting.requests).toEqual([]);
    await adopting.close();
  });

  test('stays that of the unit and the app id it was made under, whatever this worker is set to', async () => {
    const made = { ...EARLIER, madeUnder: 'live/shop-1', businessUnit: 'shop-risk', holdMs: 86_400_000 };
    const adopt = async (earlier: PaymentRecord): Promise<PaymentRecord> => {
      const engine = { earlierPayment: () => Promise.resolve(earlier) };
      const around = { baseUrl: service.sandbox.url, engine, madeUnder: 'test/shop-2', holdMs: 3_600_000 };
      const adopting = new Harness(around);
      const record = await adopting.run('createPayment', { ...call(), terms: {} });
      await adopting.close();
      return record;
    };
    // How long its provider holds may have been set again.
    expect(await adopt(made)).toEqual({ ...made, holdMs: 3_600_000 });
    expect(await adopt(EARLIER)).not.toHaveProperty('madeUnder');
  });

  test('is made when the earlier run made none', async () => {
    const engine = { earlierPayment: () => Promise.resolve(undefined) };
    const making = new Harness({ baseUrl: service.sandbox.url, engine });
    expect(await making.run('createPayment', call())).toMatchObject({ amount: 1095, status: 'Initialized' });
    expect(making.requests).toEqual(['POST /payments']);
    await making.close();
  });

  test('is not made while the engine can not say what the earlier run did', async () => {
    const engine = { earlierPayment: () => Promise.reject(new Error('the engine is away')) };
    const waiting = new Harness({ baseUrl: service.sandbox.url, engine });
    const failed = await waiting.fail('createPayment', call());
    expect(failed).toMatchObject({ type: 'ProviderUnavailable', retryable: true });
    expect(failed.message).toContain('the engine is away');
    expect(waiting.requests).toEqual([]);
    await waiting.close();
  });
});

describe('a void of a hold in a run made by a reset', () => {
  test.each(['Captured', 'Refunded', 'Pending', 'PartiallyCaptured'])(
    'is not sent where the payment is shown as %s: it could reverse captured money',
    async (status) => {
      const stub = await fakeService((response, request) =>
        json(200, request.url.endsWith('/voids') ? [] : { ...PAYMENT_BODY, status })(response, request),
      );
      const own = new Harness({ baseUrl: stub.url });
      const call = { ...callsFor(NOTHING).createVoid, originalRunId: ORIGINAL_RUN_ID, unlessCaptured: true as const };
      const failed = await own.fail('createVoid', { ...call, paymentId: PAYMENT_ID });
      expect(failed).toMatchObject({ type: 'StateConflict', message: expect.stringContaining(`as ${status}`) });
      expect(own.posts()).toEqual([]);
      await own.close();
      await stub.close();
    },
  );
});

describe('a first run', () => {
  test('neither reads before it sends nor asks the engine', async () => {
    const charge = await service.readyCharge();
    await harness.run('createCharge', charge.call);
    await harness.run('createPayment', paymentCall());
    expect(harness.requests).toEqual([`POST /payments/${charge.paymentId}/charges`, 'POST /payments']);
  });

  test('measures only a local try, by which the workflow keeps both tries within its first task', async () => {
    let clock = Date.now();
    const local = new Harness({ baseUrl: service.sandbox.url, now: () => (clock += 40) });
    expect((await local.run('createPayment', paymentCall(), { isLocal: true })).localMs).toBeGreaterThanOrEqual(40);
    expect(await local.run('createPayment', paymentCall())).not.toHaveProperty('localMs');
    await local.close();
  });
});
