import { afterAll, beforeAll, expect, test } from 'vitest';
import { type VerifiedNotification, verifyNotification } from '../../src/client/index.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { answerLocally } from '../support/local-address.js';
import { startStack, type TestStack } from '../support/stack.js';
import { NOTIFY_SECRET } from '../support/telling.js';
import { until } from '../support/until.js';
import { environmentOf, holdfast } from './command.js';

const SINCE = new Date(Date.now() - 60_000).toISOString();
let stack: TestStack;
let env: NodeJS.ProcessEnv;
let merchant: Awaited<ReturnType<typeof answerLocally>>;
const taken: VerifiedNotification[] = [];
/** An endpoint that is gone gives a notification up at once. */
let status = 410;

beforeAll(async () => {
  merchant = await answerLocally(({ headers, body }) => {
    const notification = verifyNotification({ headers, body }, { secrets: NOTIFY_SECRET });
    if (status === 200) taken.push(notification);
    return status;
  });
  const workerEnv = {
    HOLDFAST_NOTIFY_SECRET: NOTIFY_SECRET,
    HOLDFAST_NOTIFY_HOSTS: '127.0.0.1',
    HOLDFAST_NOTIFY_PRIVATE: '1',
  };
  stack = await startStack({ real: true, webhook: false, workerEnv });
  env = await environmentOf(stack.namespace);
});
afterAll(async () => {
  merchant?.close();
  await stack?.close();
});

async function printed(...args: string[]): Promise<string> {
  const { code, out, err } = await holdfast(env, args);
  if (code !== 0) throw new Error(err);
  return out;
}

/** Visibility may be a moment behind. */
const listed = async (...args: string[]) =>
  JSON.parse(await printed('notifications', 'list', '--json', ...args)) as (VerifiedNotification & {
    deliveries?: { status: string }[];
  })[];

test('what an endpoint has not taken is listed, sent again by its id, and found in the export', async () => {
  const notify = { url: merchant.url };
  const first = await chargeInput(stack.sandbox, CARDS.succeeds, { notify });
  await stack.holdfast.charge(first);
  const [given] = await until(
    () => listed(),
    (found) => found[0]?.deliveries?.[0]?.status === 'givenUp',
  );
  expect(given).toMatchObject({ type: 'payment.succeeded', data: { reference: first.reference } });
  const shown = await printed('notifications', 'list');
  expect(shown).toMatch(/ntf_[0-9a-f]{32} +payment\.succeeded .* givenUp +it answered 410/);

  const { code, err } = await holdfast(env, ['notifications', 'resend', 'ntf_other']);
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringContaining('Nothing was sent: there is no notification ntf_other'),
  });
  status = 200;
  await printed('notifications', 'resend', given?.id ?? '');
  await until(
    async () => taken,
    (all) => all.length === 1,
  );
  expect(taken[0]).toMatchObject({ id: given?.id, sequence: 1 });
  await until(
    () => listed(),
    (found) => found.length === 0,
  );

  const second = await chargeInput(stack.sandbox, CARDS.succeeds, { notify });
  await stack.holdfast.charge(second);
  const lines = await until(
    async () => (await printed('events', 'export', '--since', SINCE)).trim().split('\n'),
    (all) => all.length === 2,
  );
  const told = lines.map((line) => JSON.parse(line) as VerifiedNotification);
  expect(told.map(({ data }) => data['reference'])).toEqual([first.reference, second.reference]);
  expect(told[0]?.id).toBe(given?.id);
  // What sends is no flow that anybody looks for.
  expect(await printed('list')).not.toContain('notifications-');
});

test('a list of nothing, and wrong arguments, are said in a sentence', async () => {
  const empty = await holdfast(env, ['notifications', 'list', '--since', '2099-01-01T00:00:00Z']);
  expect(empty).toEqual({ code: 0, out: '', err: expect.stringContaining('Nothing waits or was given up') });
  expect((await holdfast(env, ['notifications', 'resend'])).err).toContain('notifications resend takes notifications');
  expect((await holdfast(env, ['events', 'export', '--since', 'today'])).err).toContain(
    '--since "today": use an instant',
  );
});
