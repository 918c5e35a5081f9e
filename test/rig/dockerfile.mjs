import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The stages of a Dockerfile by name: `{ base, steps: [{ word, args }] }`, `args` as it is written. Knows the words that
 * ours uses; another one is an error, so that none is passed over.
 */
export function readDockerfile(text) {
  const stages = new Map();
  let steps;
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  for (const line of lines.filter((one) => one.trim() !== '')) {
    const [, word = '', args = ''] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? [];
    if (word === 'FROM') {
      const [base, , name = String(stages.size)] = args.split(/\s+/);
      steps = [];
      stages.set(name, { base, steps });
    } else if (['WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'VOLUME', 'CMD'].includes(word)) steps.push({ word, args });
    else throw new Error(`the rig does not know this line of the Dockerfile: ${line}`);
  }
  return stages;
}

/** `A=b C=d` as an object. */
export function variablesOf(args) {
  return Object.fromEntries(args.split(/\s+/).map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
}

/** The files of the build context: those that `.dockerignore` lets through, relative to the folder. */
export function contextFiles(folder) {
  const path = join(folder, '.dockerignore');
  const patterns = (existsSync(path) ? readFileSync(path, 'utf8') : '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ lets: line.startsWith('!'), match: matcherOf(line.replace(/^!/, '').replace(/\/$/, '')) }));
  const isIn = (name) => patterns.reduce((lets, pattern) => (pattern.match(name) ? pattern.lets : lets), true);
  // A pattern may let a file through whose folder it does not.
  const mayHold = (name) => patterns.some(({ lets, match }) => lets && (match(name) || match.startsIn(name)));
  const walk = (below) =>
    readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
      const name = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return isIn(name) || mayHold(name) ? walk(name) : [];
      return isIn(name) ? [name] : [];
    });
  return walk('').sort();
}

/** A pattern holds for what it names and for all below. */
function matcherOf(pattern) {
  const source = pattern
    .split('/')
    .map((part) =>
      part === '**'
        ? '.*'
        : part
            .replace(/[.+^${}()|[\]\\]/g, '\\$&')
            .replaceAll('*', '[^/]*')
            .replaceAll('?', '[^/]'),
    )
    .join('/');
  const whole = new RegExp(`^${source}(/|$)`);
  const match = (name) => whole.test(name);
  match.startsIn = (name) => pattern.startsWith(`${name}/`);
  return match;
}
