import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createBillingActivities } from '../../activities/billing.js';
import type { NotifySettings } from '../../src/security/notify-settings.js';
import { tellingOf } from '../support/telling.js';
import type { EnginePort } from '../../src/contract/engine-port.js';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import type { BillingActivities, OpenedSubscription } from '../../src/contract/billing-activities.js';
import { type ApiVersion, createDispatcher, ProviderClient } from '../../src/provider/index.js';
import { customerWithCard } from '../support/subscriptions.js';
import { startTestSandbox, type TestSandbox } from '../sandbox/support/sandbox.js';
import { sealedCalls } from '../support/sealed-calls.js';

const NOW = Date.UTC(2027, 0, 15);
const QUIET = new DefaultLogger('ERROR');
const dispatcher = createDispatcher();
let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(async () => {
  await dispatcher.close();
  await sandbox.close();
});

interface Around {
  notifications?: NotifySettings;
  apiVersion?: ApiVersion;
  privateKey?: string;
}

function providerOf({ apiVersion = '1.3.0', privateKey = 'sandbox-private-key' }: Around): ProviderClient {
  const unit = { appId: 'holdfast-sandbox', privateKey, apiVersion };
  return new ProviderClient({ baseUrl: sandbox.url, environment: 'test', unit, dispatcher });
}

async function run<Answer>(call: (activities: BillingActivities) => Promise<Answer>, around: Around = {}) {
  const activities = createBillingActivities({
    providers: new Map([['default', providerOf(around)]]),
    engine: {} as EnginePort,
    now: () => NOW,
    notifications: around.notifications ?? tellingOf(),
  });
  const environment = new MockActivityEnvironment({}, { logger: QUIET });
  return (await environment.run(async () => await call(sealedCalls(activities)))) as Answer;
}

async function input(overrides: Partial<SubscriptionInput> = {}): Promise<SubscriptionInput> {
  return {
    reference: 'club-7',
    ...(await customerWithCard({ sandbox: sandbox.control, provider: providerOf({}) })),
    amount: 999,
    currency: 'EUR',
    interval: { every: 1, unit: 'month' },
    anchor: '2027-01-31',
    timeZone: 'Europe/Rome',
    ...overrides,
  };
}

async function opened(overrides: Partial<SubscriptionInput>, around: Around = {}): Promise<OpenedSubscription> {
  const raw = await input(overrides);
  return await run((activities) => activities.openSubscription({ raw, now: NOW }), around);
}

describe('a new subscription', () => {
  test('whose card and customer are there is opened, and shows the last digits of the card only', async () => {
    expect(await opened({})).toEqual({ last4Digits: '1111' });
  });

  test('is told every fault at once: of the day, notifications, customer and card', async () => {
    const url = 'http://merchant.example/hook';
    const faults = await opened(
      { customerId: randomUUID(), token: randomUUID(), anchor: '2026-12-31', notify: { url } },
      { notifications: { ...tellingOf([], []), overHttp: false } },
    );
    expect(faults).toEqual({
      faults: [
        expect.stringMatching(/^anchor: 2026-12-31 is in the past/),
        expect.stringMatching(/^notify\.url: .* is not an https address/),
        expect.stringMatching(/^notify: nothing could be signed/),
        expect.stringMatching(/^notify\.url: HOLDFAST_NOTIFY_HOSTS does not name merchant.example/),
        expect.stringMatching(/^customerId: /),
        expect.stringMatching(/^token: /),
      ],
      notifyIsFaulty: true,
    });
  });

  test('that is refused learns whom that can be told', async () => {
    const notifications = tellingOf([{ url: 'https://merchant.test/all' }]);
    const faults = { faults: [expect.stringMatching(/^token: /)], notifies: true };
    expect(await opened({ token: randomUUID() }, { notifications })).toEqual(faults);
  });

  test('is refused an address for notifications to which nothing could be sent', async () => {
    const url = 'https://user:word@merchant.test/hook';
    expect(await opened({ notify: { url } })).toEqual({
      faults: [expect.stringMatching(/^notify\.url: .* carries a user name/)],
      notifyIsFaulty: true,
    });
  });

  test('is refused for the card of another customer', async () => {
    const { customerId } = await input();
    expect(await opened({ customerId })).toEqual({ faults: [expect.stringMatching(/^token: /)] });
  });

  test.each(['1.0.0', '1.1.0'] as const)('of a unit at API version %s is refused with the reason', async (version) => {
    expect(await opened({}, { apiVersion: version })).toEqual({
      faults: [
        expect.stringMatching(`^token: .*${version} has no getPaymentMethod, which came with API version 1.2.0`),
      ],
    });
  });

  test('is not refused because our own key is', async () => {
    await expect(opened({}, { privateKey: 'wrong' })).rejects.toMatchObject({ type: 'CredentialsRejected' });
  });
});
