import { answers, pay } from '../payments.mjs';

const WITHIN_MS = 120_000;

/** Connections that are cut without a word, as by a pulled cable: who notices says so at /ready, and comes back by itself. */
export async function run({ check, stack }) {
  const rig = await stack();
  const endOf = (service) => rig.container(service).end;

  await check('a worker without network is not ready, says why, and is ready again after it', async () => {
    await rig.network.unplug(endOf('worker'));
    let why;
    try {
      why = await answers(rig, 'worker', 503, WITHIN_MS);
    } finally {
      await rig.network.plugIn(endOf('worker'));
    }
    await answers(rig, 'worker', 200, WITHIN_MS);
    await rig.healthy(WITHIN_MS);
    await pay(rig);
    return why;
  });

  await check('a payment that is asked while the worker does not reach Temporal is made once, after it', async () => {
    const heal = await rig.network.partition(endOf('worker'), endOf('temporal'));
    const healing = setTimeout(() => void heal(), 10_000);
    try {
      await pay(rig, { needs: false });
    } finally {
      clearTimeout(healing);
      await heal();
    }
    await rig.healthy(WITHIN_MS);
  });

  await check('Temporal without its database: worker and webhook are not ready, and are again after it', async () => {
    const heal = await rig.network.partition(endOf('temporal'), endOf('postgres'));
    let why;
    try {
      why = await Promise.all(['worker', 'webhook'].map((service) => answers(rig, service, 503, WITHIN_MS)));
    } finally {
      await heal();
    }
    for (const service of ['worker', 'webhook']) await answers(rig, service, 200, WITHIN_MS);
    await rig.healthy(WITHIN_MS);
    await pay(rig);
    return why.join(' ');
  });
}
