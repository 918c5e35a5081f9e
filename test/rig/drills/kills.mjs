import { kill } from '../killing.mjs';
import { pay } from '../payments.mjs';

/** Each process is killed: a kill of processes, not a power cut, since what they wrote stays in the page cache. */
export async function run({ check, stack }) {
  const rig = await stack();
  const killAll = (services) =>
    kill(
      rig,
      services.map((service) => rig.container(service)),
    );
  for (const service of ['worker', 'webhook', 'codec', 'sandbox', 'temporal', 'postgres'])
    await check(`kill -9 of ${service}: healthy again by itself, and the next payment works`, async () => {
      await killAll([service]);
      await pay(rig);
    });
  await check('kill -9 of all at once: healthy again by themselves, and the next payment works', async () => {
    await killAll(['worker', 'webhook', 'codec', 'sandbox', 'temporal', 'postgres', 'temporal-ui']);
    await pay(rig);
  });
}
