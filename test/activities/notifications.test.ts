import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createNotificationActivities, notifyFaults } from '../../activities/notifications.js';
import { NotificationRejected, verifyNotification } from '../../src/client/index.js';
import { markSealed } from '../../src/contract/payload-marks.js';
import { notificationHeaders } from '../../src/security/notification-signature.js';
import { isNotPublic } from '../../src/security/public-address.js';
import type { NotifySettings } from '../../src/security/notify-settings.js';
import { NOTIFY_SECRET, tellingOf } from '../support/telling.js';

const NOTIFICATION = {
  id: 'ntf_1',
  type: 'payment.succeeded' as const,
  at: '2027-03-03T09:00:04.512Z',
  sequence: 1,
  data: { reference: 'order-1' },
};

async function deliver(url: string, notifications: NotifySettings, ours = markSealed, now = Date.now()): Promise<void> {
  const activities = createNotificationActivities({ engine: {} as never, notifications, now: () => now });
  const call = { workflowId: 'payment-order-1', businessUnit: 'default', url, notification: NOTIFICATION };
  await new MockActivityEnvironment().run(async () => await activities.deliverNotification(ours(call)));
}

/** Answers every request with the status, and counts them. */
async function address(status: number, headers: Record<string, string> = {}) {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(status, headers).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: (host = '127.0.0.1') => `http://${host}:${port}/hook`,
    requests: () => requests,
    close: () => server.close(),
  };
}

describe('where notifications go', () => {
  test('is asked of another worker for an hour where this one knows no endpoint of the unit; then it is counted', async () => {
    const counted: [string, number][] = [];
    const endpointsOf = async (sinceMs: number, businessUnit: string, more = {}) => {
      const notifications = tellingOf([{ url: 'https://shop.example/hook', types: ['payment.declined'] }]);
      const activities = createNotificationActivities({ engine: {} as never, notifications, now: Date.now });
      const at = new Date(Date.now() - sinceMs).toISOString();
      const call = { businessUnit, type: NOTIFICATION.type, at, ...more };
      const environment = new MockActivityEnvironment();
      vi.spyOn(environment.context.metricMeter, 'createCounter').mockImplementation(
        (name) => ({ add: (value: number) => void counted.push([name, value]) }) as never,
      );
      return (await environment.run(async () => await activities.endpointsOf(markSealed(call)))) as string[];
    };
    await expect(endpointsOf(0, 'new')).rejects.toMatchObject({ type: 'NoEndpoint', nonRetryable: false });
    expect(counted).toEqual([]);
    await expect(endpointsOf(3_700_000, 'new')).rejects.toMatchObject({ type: 'NoEndpointAtAll', nonRetryable: true });
    expect(await endpointsOf(0, 'new', { url: 'https://buyer.example/hook' })).toEqual(['https://buyer.example/hook']);
    // It has one, which does not want this type.
    expect(await endpointsOf(0, 'default')).toEqual([]);
    expect(counted).toEqual([]);
  });

  test('nothing that came in clear is signed, or handed over under our keys', async () => {
    const merchant = await address(200);
    const url = merchant.url();
    await expect(deliver(url, tellingOf([{ url }]), (call) => call)).rejects.toThrow('this one came in clear');
    expect(merchant.requests()).toBe(0);
    merchant.close();
    let given = 0;
    const engine = { handOver: async () => void (given += 1) };
    const activities = createNotificationActivities({ engine, notifications: tellingOf(), now: Date.now });
    const call = { workflowId: 'payment-order-1', businessUnit: 'default', notifications: [NOTIFICATION] };
    await expect(new MockActivityEnvironment().run(async () => await activities.handOver(call))).rejects.toThrow(
      'this one came in clear',
    );
    expect(given).toBe(0);
    await new MockActivityEnvironment().run(async () => await activities.handOver(markSealed(call)));
    expect(given).toBe(1);
  });

  test.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])(
    'not to %s, unless private addresses are allowed',
    async (host) => {
      const merchant = await address(200);
      const url = merchant.url(host);
      const hidden = { ...tellingOf([{ url }]), toPrivate: false };
      await expect(deliver(url, hidden)).rejects.toThrow(/no public address; HOLDFAST_NOTIFY_PRIVATE=1 allows those/);
      expect(merchant.requests()).toBe(0);
      if (!host.startsWith('[')) await deliver(url, tellingOf([{ url }]));
      merchant.close();
    },
  );

  test('a redirect is no answer: nobody is sent on to an address that was not checked', async () => {
    const elsewhere = await address(200);
    const merchant = await address(307, { location: elsewhere.url() });
    await expect(deliver(merchant.url(), tellingOf([{ url: merchant.url() }]))).rejects.toThrow('it answered 307');
    expect(elsewhere.requests()).toBe(0);
    merchant.close();
    elsewhere.close();
  });

  test('an address that is no endpoint any more is given up, and so is one that is gone', async () => {
    const elsewhere = 'http://elsewhere.test/hook';
    // Within an hour the worker that runs this may be one that was not replaced yet.
    await expect(deliver(elsewhere, tellingOf(), undefined, Date.parse(NOTIFICATION.at))).rejects.toMatchObject({
      type: 'NoEndpoint',
      nonRetryable: false,
    });
    const later = Date.parse(NOTIFICATION.at) + 3_600_000;
    await expect(deliver(elsewhere, tellingOf(), undefined, later)).rejects.toMatchObject({
      type: 'AddressGone',
      nonRetryable: true,
      message: expect.stringContaining('HOLDFAST_NOTIFY_HOSTS does not name elsewhere.test'),
    });
    const merchant = await address(410);
    await expect(deliver(merchant.url(), tellingOf([{ url: merchant.url() }]))).rejects.toMatchObject({
      type: 'AddressGone',
      nonRetryable: true,
    });
    merchant.close();
  });

  test.each([
    ['10.1.2.3', true],
    ['172.31.255.255', true],
    ['172.32.0.1', false],
    ['192.168.0.1', true],
    ['169.254.169.254', true],
    ['100.64.0.1', true],
    ['::1', true],
    ['fd00::1', true],
    ['fe80::1', true],
    ['::ffff:10.0.0.1', true],
    ['64:ff9b::a00:1', true],
    ['64:ff9b:1::a00:1', true],
    ['2002:a00:1::', true],
    ['fec0::1', true],
    ['8.8.8.8', false],
    ['2606:4700::1', false],
    ['a.name', false],
  ])('%s is no public address: %s', (text, hidden) => {
    expect(isNotPublic(text)).toBe(hidden);
  });

  test('an address that a flow names is told every fault at once', () => {
    const live = { ...tellingOf([], []), overHttp: false, toPrivate: false, hosts: ['*.shop.example', '10.0.0.1'] };
    expect(notifyFaults(live, 'default', 'http://user:word@evilshop.example/hook')).toEqual([
      expect.stringContaining('is not an https address'),
      expect.stringContaining('carries a user name or password'),
      expect.stringContaining('nothing could be signed'),
      expect.stringContaining('HOLDFAST_NOTIFY_HOSTS does not name evilshop.example'),
    ]);
    const signed = { ...live, units: tellingOf().units };
    expect(notifyFaults(signed, 'default', 'https://hooks.shop.example/hook')).toEqual([]);
    expect(notifyFaults(signed, 'default', 'https://10.0.0.1/hook')).toEqual([
      expect.stringContaining('10.0.0.1 is no public address'),
    ]);
    expect(notifyFaults(undefined, 'default', 'https://hooks.shop.example/')).toEqual([
      expect.stringContaining('this worker sends no notifications'),
    ]);
  });
});

describe('an endpoint that hangs', () => {
  const url = 'http://merchant.test/hook';
  const other = { url: 'http://127.0.0.1/hook', businessUnit: 'other' };

  /** Endpoints that answer once the test says so. */
  function hanging(units: readonly string[]) {
    const telling = tellingOf([{ url }]);
    const notifications = { ...telling, units: new Map(units.map((unit) => [unit, telling.units.get('default')!])) };
    const answers: (() => void)[] = [];
    const post = async () => await new Promise<number>((resolve) => answers.push(() => resolve(200)));
    const activities = createNotificationActivities({ engine: {} as never, notifications, post, now: Date.now });
    const tell = async (more: Partial<typeof other> = {}): Promise<unknown> => {
      const call = { workflowId: 'payment-order-1', businessUnit: 'default', url, notification: NOTIFICATION, ...more };
      const delivering = async () => await activities.deliverNotification(markSealed(call));
      return await new MockActivityEnvironment().run(delivering).catch((error: unknown) => error);
    };
    return { answers, tell };
  }

  test('leaves half of the places to what other business units tell, and gives its own back', async () => {
    const { answers, tell } = hanging(['default', 'other']);
    const under = Array.from({ length: 50 }, () => tell());
    const refused = tell();
    expect(answers).toHaveLength(50);
    expect(await refused).toMatchObject({
      type: 'NoPlace',
      nonRetryable: false,
      message: expect.stringContaining('are of business unit "default"'),
    });
    under.push(...Array.from({ length: 50 }, () => tell(other)));
    expect(answers).toHaveLength(100);
    for (const answer of answers) answer();
    expect(await Promise.all(under)).toEqual(Array.from({ length: 100 }, () => undefined));
    const later = tell();
    expect(answers).toHaveLength(101);
    answers.at(-1)?.();
    expect(await later).toBeUndefined();
  });

  test('of the only business unit may take every place', async () => {
    const { answers, tell } = hanging(['default']);
    const under = Array.from({ length: 100 }, () => tell());
    expect(answers).toHaveLength(100);
    for (const answer of answers) answer();
    await Promise.all(under);
  });
});

describe('the verifier', () => {
  /** The example of Standard Webhooks. */
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const now = 1_614_265_330_000;

  test('takes what another implementation has signed, by either of two secrets, among other signatures', () => {
    expect(verifyNotification({ headers, body }, { secrets: secret, now })).toEqual({ test: 2_432_232_314 });
    expect(
      verifyNotification({ headers, body: Buffer.from(body) }, { secrets: [NOTIFY_SECRET, secret], now }),
    ).toBeDefined();
    const many = { ...headers, 'webhook-signature': `v1a,xyz v1,AAAA ${headers['webhook-signature']}` };
    expect(verifyNotification({ headers: many, body }, { secrets: secret, now })).toBeDefined();
  });

  test.each([
    ['another body', { body: '{"test": 2432232315}' }],
    ['another secret', { secrets: NOTIFY_SECRET }],
    ['another id', { headers: { ...headers, 'webhook-id': 'msg_other' } }],
    ['no signature', { headers: { ...headers, 'webhook-signature': undefined } }],
    [
      'a signature of another version',
      { headers: { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') } },
    ],
    ['a time that is none', { headers: { ...headers, 'webhook-timestamp': 'today' } }],
    ['an old time', { now: now + 301_000 }],
    ['a time in the future', { now: now - 301_000 }],
  ])('refuses %s', (_what, changed) => {
    const given = { headers, body, secrets: secret as string | string[], now, ...changed };
    expect(() => verifyNotification({ headers: given.headers, body: given.body }, given)).toThrow(NotificationRejected);
  });

  test.each([
    ['none', []],
    ['an empty one', ''],
    ['an empty one beside a good one', ['', secret]],
    ['one without bytes', 'whsec_'],
    ['one that is too short', 'whsec_c2hvcnQ='],
  ])('takes no word of anybody where a secret is missing: %s', (_what, secrets) => {
    const signed = { id: 'msg_forged', timestamp: now / 1_000, body };
    const forged = { headers: notificationHeaders([''], signed), body };
    for (const given of [{ headers, body }, forged])
      expect(() => verifyNotification(given, { secrets, now })).toThrow('is no secret');
  });
});
