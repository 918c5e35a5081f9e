import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { rootDir } from '../../../tools/setup/paths.mjs';
import { copyTree } from './copy-tree.mjs';
import { runTestsIn } from './run-tests-in.mjs';

/**
 * Plants each fault alone, in as many copies of the tree as there are cores, and prints what became of it. Returns the
 * exit code: 0 only if every fault was noticed by a test that fails with it and passes without it.
 */
export async function plantAll(faults, { namedOnly }) {
  const apply = faults.filter((fault) => {
    const why = whyNot(fault);
    if (why !== undefined) print(fault, `DOES NOT APPLY: ${why}`);
    return why === undefined;
  });
  const trees = apply.slice(0, availableParallelism()).map(() => copyTree());
  const counts = { killed: 0, survived: 0, invalid: faults.length - apply.length };
  try {
    const broken = await brokenWithoutFault(trees[0], [...new Set(apply.flatMap(({ tests }) => tests))]);
    if (broken.length > 0) {
      console.log(`These tests fail without any fault, so that they prove nothing:\n${broken.join('\n')}`);
      return 1;
    }
    const left = [...apply];
    const plantOneByOne = async (tree) => {
      for (let fault = left.shift(); fault !== undefined; fault = left.shift()) {
        const { verdict, words } = await plant(tree, fault, namedOnly);
        counts[verdict] += 1;
        print(fault, words);
      }
    };
    await Promise.all(trees.map(plantOneByOne));
  } finally {
    for (const tree of trees) tree.remove();
  }
  const { killed, survived, invalid } = counts;
  console.log(`\n${killed} killed, ${survived} survived, ${invalid} invalid`);
  return survived + invalid === 0 && killed > 0 ? 0 : 1;
}

function print({ name, rule }, words) {
  console.log(`${name} (${rule}): ${words}`);
}

/** Why a fault can not be planted in the sources as they are; undefined if it can. */
export function whyNot({ file, from, to, tests }) {
  const path = join(rootDir, file);
  if (!existsSync(path)) return `there is no ${file}`;
  const count = readFileSync(path, 'utf8').split(from).length - 1;
  if (count !== 1) return `its text stands ${count} times in ${file}`;
  if (from === to) return 'it changes nothing';
  const missing = tests.filter((test) => !existsSync(join(rootDir, test)));
  return missing.length > 0 ? `it names tests that are not there: ${missing.join(', ')}` : undefined;
}

async function brokenWithoutFault(tree, tests) {
  if (tree === undefined) return [];
  await tree.buildIfNeeded(tests);
  const { failed, broken } = await runTestsIn(tree.folder, tests);
  return [...failed, ...broken].map(titleOf);
}

async function plant(tree, fault, namedOnly) {
  const restore = tree.replace(fault);
  try {
    const named = await outcome(tree, fault.tests);
    if (named.verdict !== 'survived' || namedOnly) return named;
    const whole = await runTestsIn(tree.folder, undefined);
    if (whole.failed.length === 0) return whole.broken.length > 0 ? invalid(whole.broken) : named;
    restore();
    const files = [...new Set(whole.failed.map(({ file }) => file))];
    await tree.buildIfNeeded(files);
    const without = new Set((await runTestsIn(tree.folder, files)).failed.map(titleOf));
    const noticed = whole.failed.find((test) => !without.has(titleOf(test)));
    if (noticed === undefined) return named;
    return { verdict: 'killed', words: `killed by ${titleOf(noticed)} (not by the tests it names)` };
  } finally {
    restore();
  }
}

async function outcome(tree, tests) {
  const fault = await tree.buildIfNeeded(tests);
  if (fault !== undefined) return { verdict: 'invalid', words: `INVALID: it does not build: ${fault}` };
  const { failed, broken } = await runTestsIn(tree.folder, tests, { untilFailure: true });
  if (failed[0] !== undefined) return { verdict: 'killed', words: `killed by ${titleOf(failed[0])}` };
  return broken.length > 0 ? invalid(broken) : { verdict: 'survived', words: 'SURVIVED' };
}

/** A file that could not be loaded, or a test that ran out of time, says nothing about a promise. */
function invalid(broken) {
  return { verdict: 'invalid', words: `INVALID: ${titleOf(broken[0])}: ${broken[0].reason}` };
}

function titleOf({ file, title }) {
  return title === undefined ? file : `${file} › ${title}`;
}
