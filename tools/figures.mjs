/**
 * Prints the size of the code and how much of it one charge needs: `npm run figures`. Lines and files outside the
 * tests, the longest file, modules that a file imports twice, files of which one successful charge runs a function, and
 * the functions that are under way when it reaches the socket. `-- --at <commit>` prints the lines and files of another
 * commit, `-- --files` names the files of a charge.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { loadSource } from './load-source.mjs';
import { rootDir } from './setup/paths.mjs';
import { exitWithReason } from './setup/set-up-error.mjs';
import { ensureReady } from './setup.mjs';

function sourceFiles() {
  const listed = execFileSync('git', ['ls-files', '*.ts', '*.mjs'], { cwd: rootDir, encoding: 'utf8' });
  return listed
    .trim()
    .split('\n')
    .filter((path) => path.includes('/'))
    .map((path) => ({ path, text: readFileSync(`${rootDir}/${path}`, 'utf8') }));
}

const linesOf = ({ text, lines }) => lines ?? text.split('\n').length - 1;

function filesAt(commit) {
  const counted = execFileSync('git', ['grep', '--count', '', commit, '--', '*.ts', '*.mjs'], {
    cwd: rootDir,
    encoding: 'utf8',
  });
  return counted
    .trim()
    .split('\n')
    .map((line) => line.slice(commit.length + 1).split(':'))
    .filter(([path]) => path.includes('/'))
    .map(([path, lines]) => ({ path, lines: Number(lines) }));
}

function printSizes(files) {
  const folders = new Map();
  for (const file of files) folders.set(folderOf(file), [...(folders.get(folderOf(file)) ?? []), file]);
  const row = (name, group) => {
    const lines = group.reduce((sum, file) => sum + linesOf(file), 0);
    console.log(`${name.padEnd(24)}${String(lines).padStart(8)} lines${String(group.length).padStart(6)} files`);
  };
  for (const [folder, group] of [...folders].toSorted(([one], [other]) => (one < other ? -1 : 1))) row(folder, group);
  row(
    'outside the tests',
    files.filter(({ path }) => !path.startsWith('test/')),
  );
}

/** Splits `src` by its subfolders, because each has its own purpose. */
function folderOf({ path }) {
  const [top, second] = path.split('/');
  return top === 'src' && path.split('/').length > 2 ? `src/${second}` : top;
}

function doubledImports({ text }) {
  const modules = [...text.matchAll(/^import [^;]*?from '([^']+)';$/gms)].map(([, name]) => name);
  return modules.length - new Set(modules).size;
}

async function chargeFigures() {
  const { filesOfACharge } = await loadSource('/test/simulation/files-of-a-charge.ts');
  return await filesOfACharge(rootDir);
}

try {
  const { at, files: namesFiles } = parseArgs({
    options: { at: { type: 'string' }, files: { type: 'boolean' } },
  }).values;
  if (at !== undefined) {
    printSizes(filesAt(at));
    process.exit(0);
  }
  await ensureReady({ need: ['packages', 'build'], tolerateTypeErrors: true });
  const files = sourceFiles();
  printSizes(files);
  const longest = files.toSorted((one, other) => linesOf(other) - linesOf(one))[0];
  console.log(`longest file: ${linesOf(longest)} lines, ${longest.path}`);
  console.log(
    `import statements of a module that is imported already: ${files.reduce((sum, file) => sum + doubledImports(file), 0)}`,
  );
  const { files: ran, functions, frames } = await chargeFigures();
  console.log(`one successful charge: functions of ${ran.length} files, ${functions} functions`);
  if (namesFiles) console.log(ran.map((file) => `  ${file}`).join('\n'));
  console.log(`from the workflow's function to the socket: ${frames.length} frames`);
  console.log(frames.map((frame) => `  ${frame}`).join('\n'));
  process.exit(0);
} catch (error) {
  exitWithReason(error);
}
