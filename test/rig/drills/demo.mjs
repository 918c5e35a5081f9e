import { ledger, pay } from '../payments.mjs';

/** The stack of the profile `demo` comes up from nothing, pays, and stays as it is when it is told to come up again. */
export async function run({ check, built, stack }) {
  const rig = await built();
  const isUp = await check('the demo is up from nothing, every service healthy, within 120 s', async () => {
    const begun = Date.now();
    await stack();
    const seconds = (Date.now() - begun) / 1000;
    const most = rig.containers.map(({ name, mostMemory }) => `${name} ${mib(mostMemory)}`);
    return `${seconds.toFixed(1)} s; most memory in MiB: ${most.join(', ')}`;
  });
  if (!isUp) return;
  await check('run demo makes one payment, and the sandbox holds one charge for it', () => pay(rig));
  await check('a second up finds everything as it was', async () => {
    const running = rig.containers.filter(({ state }) => state === 'running');
    const before = await Promise.all(running.map((one) => one.pid()));
    const payments = (await ledger(rig)).length;
    await rig.up({ services: [...new Set(rig.containers.map(({ name }) => name.replace(/-\d+$/, '')))] });
    await rig.healthy(120_000);
    const after = await Promise.all(running.map((one) => one.pid()));
    if (String(before) !== String(after))
      throw new Error(`processes have changed: ${before.join(' ')} to ${after.join(' ')}`);
    if ((await ledger(rig)).length !== payments) throw new Error('the ledger has changed');
    const jobs = rig.containers.filter(({ state, exitCode }) => state === 'exited' && exitCode === 0);
    return `jobs ran again: ${jobs.map(({ name }) => name).join(', ')}`;
  });
}

const mib = (bytes) => (bytes === undefined ? '?' : Math.round(bytes / 2 ** 20));
