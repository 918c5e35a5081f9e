import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { knownTimings } from '../../tools/tests/timings.mjs';
import { fileOf, LONGEST, nameOfRun } from '../../tools/tests/groups.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LONG_MS = 60_000;

/** In which order vitest begins the files: by what they took last time, and where that is not known by a rough list. */
export default class LongestFirst {
  sort(files) {
    const known = knownTimings({ full: process.env.HOLDFAST_FULL === '1' });
    const rough = new Map(LONGEST.map((name, place) => [fileOf(name), LONG_MS - place * 1_000]));
    const nameOf = ({ moduleId, project }) => nameOfRun(relative(ROOT, moduleId).split(sep).join('/'), project.name);
    const expected = (file) => known[nameOf(file)] ?? rough.get(nameOf(file)) ?? 0;
    return files.toSorted((a, b) => expected(b) - expected(a) || (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  shard(files) {
    const { index, count } = this.context.config.shard;
    return this.sort(files).filter((_, place) => place % count === index - 1);
  }

  constructor(context) {
    this.context = context;
  }
}
