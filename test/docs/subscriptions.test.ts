import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createNotifier } from '../../activities/notify-merchant.js';
import { UPDATE_NAMES } from '../../src/contract/names.js';
import { type Notice, NOTICE_TYPES } from '../../src/contract/billing-activities.js';

const PAGE = readFileSync(new URL('../../docs/subscriptions.md', import.meta.url), 'utf8');
const SECRET = 'a secret of the merchant';

type Verify = (body: string, header: string | undefined, secret: string) => boolean;

/** The program of the page, as it stands there. */
async function verifierOfThePage(): Promise<Verify> {
  const [, program = ''] = /```js\n(import \{ createHmac[\s\S]*?)```/.exec(PAGE) ?? [];
  const { isFromHoldfast } = (await import(`data:text/javascript,${encodeURIComponent(program)}`)) as {
    isFromHoldfast: Verify;
  };
  return isFromHoldfast;
}

/** What the merchant's address gets, sent as the worker sends it. */
async function received(now: number): Promise<{ body: string; header: string | undefined }> {
  const { notice } = exampleOfThePage();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const got = new Promise<{ body: string; header: string | undefined }>((resolve) => {
    server.once('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const header = request.headers['holdfast-signature'];
        resolve({ body: Buffer.concat(chunks).toString(), header: typeof header === 'string' ? header : undefined });
        response.writeHead(204).end();
      });
    });
  });
  const { port } = server.address() as AddressInfo;
  const deps = { notifySecret: SECRET, notifyOverHttp: true, now: () => now };
  await createNotifier(deps)({ url: `http://127.0.0.1:${port}/`, businessUnit: 'default', notice });
  server.close();
  return await got;
}

function exampleOfThePage(): { notice: Notice; businessUnit: string } {
  const [, text = ''] = /```json\n(\{\n {2}"id"[\s\S]*?)```/.exec(PAGE) ?? [];
  const { businessUnit, ...notice } = JSON.parse(text) as Notice & { businessUnit: string };
  return { notice, businessUnit };
}

describe('the page on subscriptions', () => {
  test('shows how to verify a notification: what we send passes, and nothing else does', async () => {
    const isFromHoldfast = await verifierOfThePage();
    const { body, header = '' } = await received(Date.now());
    expect(JSON.parse(body)).toEqual({ ...exampleOfThePage().notice, businessUnit: 'default' });
    expect(isFromHoldfast(body, header, SECRET)).toBe(true);
    expect(isFromHoldfast(body.replace('999', '998'), header, SECRET)).toBe(false);
    expect(isFromHoldfast(body, header, 'another secret')).toBe(false);
    expect(isFromHoldfast(body, header.replace(/t=\d/, 't=2'), SECRET)).toBe(false);
    for (const none of [undefined, '', 'v1=00', header.slice(0, -1)]) {
      expect(isFromHoldfast(body, none, SECRET)).toBe(false);
    }
  });

  test('has the merchant refuse a notification that is signed but old', async () => {
    const isFromHoldfast = await verifierOfThePage();
    const { body, header } = await received(Date.now() - 600_000);
    expect(isFromHoldfast(body, header, SECRET)).toBe(false);
  });

  test('names every notification, every command and the limits before anything else', () => {
    for (const type of NOTICE_TYPES) expect(PAGE).toContain(`\`${type.replace('subscription.', '')}\``);
    const { pause, resume, changeCard, changePlan, billNow, refundPeriod, cancel, settleManually } = UPDATE_NAMES;
    for (const name of [pause, resume, changeCard, changePlan, billNow, refundPeriod, cancel, settleManually]) {
      expect(PAGE).toMatch(new RegExp(`^\\| \`${name}\``, 'm'));
    }
    expect(/^## (.*)$/m.exec(PAGE)?.[1]).toBe('Limits');
  });
});
