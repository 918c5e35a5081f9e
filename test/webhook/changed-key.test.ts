import { afterEach, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.js';
import { createProviders } from '../../workers/providers.js';
import { env, units } from '../config/support.js';
import { fakeService, json, PAYMENT_BODY, PAYMENT_ID } from '../provider/support/fake-service.js';
import { chargeBody, startHandler } from './support.js';

const OLD = 'the-key-that-the-service-has';
const NEW = 'the-key-that-it-is-to-have';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => await Promise.all(closing.splice(0).map((close) => close())));

/** Whether events signed with each key are believed, and which key calls carry. */
async function under(keys: { privateKey: string; previousPrivateKeys: string[] }) {
  const service = await fakeService(json(200, PAYMENT_BODY));
  closing.push(() => service.close());
  const config = loadConfig(
    env({ ...units({ default: { appId: 'app-default', ...keys } }), HOLDFAST_API_BASE_URL: service.url }),
  );
  const handler = await startHandler({ units: [...config.businessUnits.values()] });
  closing.push(() => handler.close());
  const [provider] = createProviders(config).values();
  await provider?.getPayment(PAYMENT_ID);
  await provider?.close();
  const statusOf = async (key: string): Promise<number> => (await handler.postSigned(chargeBody(), key)).status;
  const uses = async (key: string) =>
    await handler.metric('holdfast_webhook_key_uses_total', { business_unit: 'default', key });
  return {
    believed: [await statusOf(OLD), await statusOf(NEW)],
    uses: { current: await uses('current'), 'previous-1': await uses('previous-1') },
    carried: service.requests.map(({ headers }) => headers['private-key']),
  };
}

test('a new key among the previous ones is believed before the service has it, and calls carry the old one until both are swapped', async () => {
  const both = { believed: [200, 200], uses: { current: 1, 'previous-1': 1 } };
  expect(await under({ privateKey: OLD, previousPrivateKeys: [NEW] })).toEqual({ ...both, carried: [OLD] });
  expect(await under({ privateKey: NEW, previousPrivateKeys: [OLD] })).toEqual({ ...both, carried: [NEW] });
});
