/**
 * Runs docker-compose.yml as it is written, with real processes and without a container engine, and sees whether it keeps
 * what it promises: `node test/rig/main.mjs [DRILL ...]`, drills as they are named in `drills/`. Each check is a line,
 * and the last one counts them. Where the machine lacks what it takes, it says what and ends with 0, or with 1 where
 * HOLDFAST_RIG=1 says that it must run.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readCompose } from './compose.mjs';
import { whatIsMissing, whatDiffers } from './needs.mjs';
import { Rig } from './rig.mjs';

const folder = join(import.meta.dirname, 'drills');
/** In this order; those that are not named here follow. */
const ORDER = ['lacking-file', 'production', 'demo', 'kills', 'partitions', 'down-and-up', 'chaos'];
const all = readdirSync(folder)
  .map((name) => name.replace(/\.mjs$/, ''))
  .sort((a, b) => (ORDER.indexOf(a) + 1 || Infinity) - (ORDER.indexOf(b) + 1 || Infinity) || a.localeCompare(b));

const say = (line) => process.stdout.write(`        ${line.replaceAll('\n', '\n        ')}\n`);
const counts = { passed: 0, failed: 0 };

/** Runs one check and prints it. A drill goes on after one that failed, unless it asks. Returns whether it held. */
async function check(name, act) {
  const begun = Date.now();
  const took = () => `${((Date.now() - begun) / 1000).toFixed(1)} s`;
  try {
    const note = await act();
    counts.passed += 1;
    process.stdout.write(`ok      ${name} (${took()}${typeof note === 'string' ? `; ${note}` : ''})\n`);
    return true;
  } catch (error) {
    counts.failed += 1;
    process.stdout.write(`FAILED  ${name} (${took()})\n`);
    say(error instanceof Error ? error.message : String(error));
    return false;
  }
}

const rigs = new Set();
const open = async (model, options) => {
  const rig = await Rig.open(model, say, options);
  rigs.add(rig);
  return rig;
};
const close = async (rig) => {
  rigs.delete(rig);
  await rig.remove();
};
const endAll = async () => await Promise.all([...rigs].map((rig) => close(rig)));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void endAll().finally(() => process.exit(130)));

let shared;
/** The demo's stack with its images made, and nothing started. All drills share it. */
function built() {
  shared ??= (async () => {
    const rig = await open(await readCompose({ profiles: ['demo', 'payment'], envFile: 'deploy/demo.env' }));
    await rig.build();
    return rig;
  })();
  return shared;
}
/** The demo's stack, all healthy. All drills that ask for it leave it healthy. */
async function stack() {
  const rig = await built();
  if (rig.containers.length === 0) await rig.up({ services: await demoServices(), withinMs: 120_000 });
  await rig.healthy(120_000);
  return rig;
}
const demoServices = async () =>
  Object.keys((await readCompose({ profiles: ['demo'], envFile: 'deploy/demo.env' })).services);

async function main() {
  const asked = process.argv.slice(2);
  const unknown = asked.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`no drill is called ${unknown.join(', ')}: use ${all.join(', ')}`);
  const missing = await whatIsMissing();
  if (missing.length > 0) {
    process.stdout.write(`skipped: the rig lacks ${missing.join('; ')}\n`);
    return process.env.HOLDFAST_RIG === '1' ? 1 : 0;
  }
  for (const line of await whatDiffers()) say(line);
  for (const name of asked.length > 0 ? asked : all) {
    process.stdout.write(`${name}:\n`);
    const drill = await import(join(folder, `${name}.mjs`));
    await drill
      .run({ check, open, close, built, stack, say })
      .catch((error) => check(name, () => Promise.reject(error)));
  }
  return counts.failed === 0 ? 0 : 1;
}

let code = 1;
try {
  code = await main();
} catch (error) {
  process.stdout.write(`FAILED  ${error.stack}\n`);
  counts.failed += 1;
} finally {
  await endAll();
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exit(code);
