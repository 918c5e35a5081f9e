import { endings, ledger, pay } from '../payments.mjs';

/** `docker compose down` and `up`: containers are made anew, volumes stay. */
export async function run({ check, stack }) {
  const rig = await stack();
  const services = [...new Set(rig.containers.map(({ name }) => name.replace(/-\d+$/, '')))];
  let before;
  await check('down: each process ends by itself within its grace period', async () => {
    before = [await pay(rig), JSON.stringify(await ledger(rig))];
    return endings(await rig.down());
  });
  await check('up: payments are there as before, and a new one works', async () => {
    await rig.up({ services });
    await rig.healthy(120_000);
    const [reference, text] = before;
    if (JSON.stringify(await ledger(rig)) !== text) throw new Error('the ledger is another');
    const { code, output } = await rig.run('setup', { command: ['node', 'dist/src/cli/main.js', 'show', reference] });
    if (code !== 0 || !output.includes('succeeded')) throw new Error(`holdfast show ${reference}: ${output}`);
    await pay(rig);
  });
}
