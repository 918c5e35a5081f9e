import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createBillingActivities, type NotifyDeps } from '../../activities/billing.js';
import type { EnginePort } from '../../src/contract/engine-port.js';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import type { BillingActivities, OpenedSubscription } from '../../src/contract/billing-activities.js';
import { type ApiVersion, createDispatcher, ProviderClient } from '../../src/provider/index.js';
import { customerWithCard } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { startTestSandbox, type TestSandbox } from '../sandbox/support/sandbox.js';

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

interface Around extends Partial<NotifyDeps> {
  /** How often the engine has tried. */
  attempt?: number;
  apiVersion?: ApiVersion;
  privateKey?: string;
}

function providerOf({ apiVersion = '1.3.0', privateKey = 'sandbox-private-key' }: Around): ProviderClient {
  const unit = { appId: 'holdfast-sandbox', privateKey, apiVersion };
  return new ProviderClient({ baseUrl: sandbox.url, environment: 'test', unit, dispatcher });
}

async function run<Answer>(call: (activities: BillingActivities) => Promise<Answer>, around: Around = {}) {
  const { notifySecret, notifyOverHttp = true, attempt = 1 } = around;
  const activities = createBillingActivities({
    providers: new Map([['default', providerOf(around)]]),
    engine: {} as EnginePort,
    now: () => NOW,
    notifySecret,
    notifyOverHttp,
  });
  const environment = new MockActivityEnvironment({ attempt }, { logger: QUIET });
  return (await environment.run(async () => await call(activities))) as Answer;
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
      { notifyOverHttp: false },
    );
    expect(faults).toEqual({
      faults: [
        expect.stringMatching(/^anchor: 2026-12-31 is in the past/),
        expect.stringMatching(/^notify: no HOLDFAST_NOTIFY_SECRET/),
        expect.stringMatching(/^notify\.url: .* is not an https address/),
        expect.stringMatching(/^customerId: /),
        expect.stringMatching(/^token: /),
      ],
    });
  });

  test('is refused an address for notifications to which nothing could be sent', async () => {
    const url = 'https://user:word@merchant.example/hook';
    expect(await opened({ notify: { url } }, { notifySecret: 'a secret' })).toEqual({
      faults: [expect.stringMatching(/^notify\.url: carries a user name/)],
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

test.each([
  [1, 15_000],
  [4, 60_000],
  [1_000, 3_600_000],
])(
  'addresses that do not answer take a share of a worker, and what waits at try %i comes back after %i ms',
  async (attempt, delayMs) => {
    const server = createServer(() => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    let arrived = 0;
    server.on('request', () => (arrived += 1));
    const notice = { id: 'club-7:1', type: 'subscription.billed' as const, at: new Date(NOW).toISOString(), data: {} };
    const refusals = await run(
      async (activities) => {
        const send = async (): Promise<unknown> =>
          await activities.notifyMerchant({ businessUnit: 'default', url, notice }).catch((error: unknown) => error);
        const sent = Array.from({ length: 8 }, send);
        await until(
          async () => arrived,
          (count) => count === 8,
        );
        const late = await send();
        server.closeAllConnections();
        await Promise.all(sent);
        return late;
      },
      { notifySecret: 'a secret', attempt },
    );
    expect(refusals).toMatchObject({ message: expect.stringContaining('put off'), nextRetryDelay: delayMs });
    server.close();
  },
);
