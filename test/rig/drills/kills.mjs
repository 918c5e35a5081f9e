import { setTimeout as sleep } from 'node:timers/promises';
import { pay } from '../payments.mjs';

const WITHIN_MS = 120_000;

/** Each process is killed: a kill of processes, not a power cut, since what they wrote stays in the page cache. */
export async function run({ check, stack }) {
  const rig = await stack();
  for (const service of ['worker', 'webhook', 'codec', 'sandbox', 'temporal', 'postgres'])
    await check(`kill -9 of ${service}: healthy again by itself, and the next payment works`, async () => {
      await kill(rig, [service]);
      await pay(rig);
    });
  await check('kill -9 of all at once: healthy again by themselves, and the next payment works', async () => {
    await kill(rig, ['worker', 'webhook', 'codec', 'sandbox', 'temporal', 'postgres', 'temporal-ui']);
    await pay(rig);
  });
}

async function kill(rig, services) {
  const containers = services.map((service) => rig.container(service));
  const starts = containers.map((one) => one.starts);
  await Promise.all(containers.map((one) => one.signal('SIGKILL')));
  const begun = Date.now();
  while (containers.some((one, at) => one.starts === starts[at])) {
    if (Date.now() - begun > WITHIN_MS) throw new Error('it was not started again');
    await sleep(100);
  }
  await rig.healthy(WITHIN_MS);
}
