import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rootDir } from '../setup/paths.mjs';

const PATH = join(rootDir, '.holdfast', 'test-timings.json');
const kindOf = ({ full }) => (full ? 'full' : 'short');

/** Duration in ms of each file's last run, by its name. Empty if unknown. */
export function knownTimings(counts) {
  try {
    return JSON.parse(readFileSync(PATH, 'utf8'))[kindOf(counts)] ?? {};
  } catch {
    return {};
  }
}

/** Saves the durations for the next run on this machine. */
export function keepTimings(files, counts) {
  const kept = Object.fromEntries(['short', 'full'].map((kind) => [kind, knownTimings({ full: kind === 'full' })]));
  for (const { file, ms } of files) kept[kindOf(counts)][file] = ms;
  mkdirSync(dirname(PATH), { recursive: true });
  writeFileSync(PATH, `${JSON.stringify(kept, null, 1)}\n`);
}
