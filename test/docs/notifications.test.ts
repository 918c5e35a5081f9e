import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createNotificationActivities } from '../../activities/notifications.js';
import { unitSchema } from '../../src/config/business-units.js';
import type { VerifiedNotification } from '../../src/client/index.js';
import { markSealed } from '../../src/contract/payload-marks.js';
import { NOTIFICATION_TYPES } from '../../src/contract/notifications.js';
import { NOTIFY_SECRET, tellingOf } from '../support/telling.js';

const PAGE = readFileSync(new URL('../../docs/notifications.md', import.meta.url), 'utf8');

const codeOf = (language: string, has: string): string => {
  const blocks = [...PAGE.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code = '']) => code,
  );
  return blocks.find((code) => code.includes(has)) ?? '';
};

type Serve = (secrets: string, take: (notification: VerifiedNotification) => unknown) => Server;

/** The program of the page, as it stands there, with the package that it imports. */
async function serverOfThePage(): Promise<Serve> {
  const source = codeOf('js', 'serveNotifications').replace(
    "'holdfast/client'",
    JSON.stringify(new URL('../../dist/src/client/index.js', import.meta.url).href),
  );
  const { serveNotifications } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    serveNotifications: Serve;
  };
  return serveNotifications;
}

async function listening(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

test('the page shows a server that takes what we send, and nothing else', async () => {
  const taken: VerifiedNotification[] = [];
  const server = (await serverOfThePage())(NOTIFY_SECRET, (notification) => taken.push(notification));
  const url = await listening(server);
  const {
    timestamp: at,
    workflowId,
    businessUnit,
    ...rest
  } = JSON.parse(codeOf('json', 'ntf_')) as VerifiedNotification;
  const send = createNotificationActivities({ engine: {} as never, notifications: tellingOf(), now: Date.now });
  const call = markSealed({ workflowId, businessUnit, url, notification: { ...rest, at } });
  await new MockActivityEnvironment().run(async () => await send.deliverNotification(call));
  expect(taken).toEqual([JSON.parse(codeOf('json', 'ntf_'))]);
  const forged = await fetch(url, { method: 'POST', body: JSON.stringify(rest) });
  expect(forged.status).toBe(401);
  expect(taken).toHaveLength(1);
  server.close();
});

test('the page names every type, and its configuration is one', () => {
  for (const type of NOTIFICATION_TYPES) expect(PAGE).toContain(`\`${type}\``);
  const { default: unit } = JSON.parse(codeOf('json', '"endpoints"')) as { default: object };
  expect(unitSchema.safeParse(unit).error).toBeUndefined();
  expect(/^## (.*)$/m.exec(PAGE)?.[1]).toBe('Limits');
});
