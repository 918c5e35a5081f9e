import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Saves the durations for the next run on this machine, and forgets files that are gone. */
export function keepTimings(files, counts) {
  const isThere = ([file]) => existsSync(join(rootDir, file.split(' ', 1)[0]));
  const known = (kind) => Object.fromEntries(Object.entries(knownTimings({ full: kind === 'full' })).filter(isThere));
  const kept = { short: known('short'), full: known('full') };
  for (const { file, ms } of files) kept[kindOf(counts)][file] = ms;
  mkdirSync(dirname(PATH), { recursive: true });
  writeFileSync(PATH, `${JSON.stringify(kept, null, 1)}\n`);
}
