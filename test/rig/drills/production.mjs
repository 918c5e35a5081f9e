import { randomBytes } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readCompose } from '../compose.mjs';
import { endings } from '../payments.mjs';

const MIB = 2 ** 20;
/** Without the base image. */
const MOST_MIB = { runtime: 220, sandbox: 120 };
const NOT_IN_RUNTIME = /^dist\/(sandbox|tools)\/|^node_modules\/(libsql|typescript|vitest)\//;

const secret = () => randomBytes(32).toString('hex');

/** What production has to be given. The payment service is nobody: no payment is made. */
const productionEnv = () => ({
  HOLDFAST_ENVIRONMENT: 'live',
  HOLDFAST_API_BASE_URL: 'https://payments.invalid',
  HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { appId: 'shop', privateKey: secret() } }),
  HOLDFAST_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  HOLDFAST_CODEC_TOKEN: secret(),
  HOLDFAST_CODEC_UI_CAPABILITY: secret(),
  POSTGRES_PASSWORD: secret(),
});

/** The default profile, with 512 shards, two workers, secrets of its own and for live money; and what its images hold. */
export async function run({ check, open, close }) {
  const rig = await open(await readCompose({ env: productionEnv() }));
  try {
    await rig.build();
    const isUp = await check('production is up from nothing, every service healthy, within 120 s', async () => {
      const begun = Date.now();
      await rig.up({ scale: { worker: 2 }, withinMs: 120_000 });
      await rig.healthy(120_000 - (Date.now() - begun));
    });
    if (isUp) {
      await check('the server takes each line of its file of dynamic configuration', async () => {
        const file = rig.container('temporal').env['DYNAMIC_CONFIG_FILE_PATH'];
        const { code, output } = await rig
          .container('temporal')
          .exec(['temporal-server', 'validate-dynamic-config', file]);
        if (code !== 0 || /error|warning: unregistered/i.test(output)) throw new Error(output);
      });
      await check('down: each process ends by itself within its grace period', async () => {
        return endings(await rig.down());
      });
    }
    for (const [target, most] of Object.entries(MOST_MIB))
      await check(`image ${target}: at most ${most} MiB, native code of this platform alone`, async () => {
        const files = filesOf(await rig.imageFolder(target));
        const size = files.reduce((sum, { bytes }) => sum + bytes, 0) / MIB;
        if (size > most) throw new Error(`it has ${size.toFixed(1)} MiB`);
        const foreign = files.filter(
          ({ name }) => /darwin|windows|win32|aarch64|arm64|musl/.test(name) && name.endsWith('.node'),
        );
        const wrong = [
          ...foreign,
          ...files.filter(
            ({ name }) => /^dist\/.*\.(map|d\.ts)$/.test(name) || (target === 'runtime' && NOT_IN_RUNTIME.test(name)),
          ),
        ];
        if (wrong.length > 0) throw new Error(wrong.map(({ name }) => name).join('\n'));
        return `${size.toFixed(1)} MiB, ${files.length} files`;
      });
  } finally {
    await close(rig);
  }
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => ({ name, at: statSync(join(folder, name)) }))
    .filter(({ at }) => at.isFile())
    .map(({ name, at }) => ({ name, bytes: at.size }));
}
