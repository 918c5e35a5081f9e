import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { keepFormat, STATE_FORMAT, StateFormatError } from '../../tools/stack/state-format.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const TODAY = new Date('2027-01-31T10:00:00Z');

/** A state folder with a database and a key, inside of a folder of its own. */
function stateOf(format?: string): { home: string; stateDir: string } {
  const home = temporaryFolder();
  const stateDir = join(home, '.holdfast');
  mkdirSync(join(stateDir, 'keys'), { recursive: true });
  writeFileSync(join(stateDir, 'temporal.db'), 'flows');
  writeFileSync(join(stateDir, 'temporal.db-wal'), 'more flows');
  writeFileSync(join(stateDir, 'keys', 'encryption-keys'), 'key');
  writeFileSync(join(stateDir, 'run.json'), '{}');
  writeFileSync(join(stateDir, 'mine.txt'), 'of somebody else');
  if (format !== undefined) writeFileSync(join(stateDir, 'format'), format);
  return { home, stateDir };
}

function keep(stateDir: string): string[] {
  const said: string[] = [];
  keepFormat(stateDir, (line) => said.push(line), { today: TODAY });
  return said;
}

const formatIn = (folder: string): string => readFileSync(join(folder, 'format'), 'utf8').trim();

test('state of this format is gone on with, and nothing is said', () => {
  const { home, stateDir } = stateOf(String(STATE_FORMAT));
  expect(keep(stateDir)).toEqual([]);
  expect(readdirSync(home)).toEqual(['.holdfast']);
  expect(existsSync(join(stateDir, 'temporal.db'))).toBe(true);
});

test.each([
  ['older, from before there were formats', undefined, '.holdfast-0-2027-01-31'],
  ['newer', String(STATE_FORMAT + 1), `.holdfast-${STATE_FORMAT + 1}-2027-01-31`],
  ['unreadable', 'x/../y', '.holdfast-unknown-2027-01-31'],
])('state of a format that is %s is set aside whole, and a sentence says where', (_what, format, name) => {
  const { home, stateDir } = stateOf(format);
  const [said, ...more] = keep(stateDir);
  expect(more).toEqual([]);
  expect(said).toContain(`set aside as ${join(home, name)}`);
  const aside = readdirSync(join(home, name)).filter((one) => one !== 'format');
  expect(aside.toSorted()).toEqual(['keys', 'temporal.db', 'temporal.db-wal']);
  expect(readdirSync(stateDir).toSorted()).toEqual(['format', 'mine.txt', 'run.json']);
  expect(formatIn(stateDir)).toBe(String(STATE_FORMAT));
  // The next start finds its own.
  writeFileSync(join(stateDir, 'temporal.db'), 'new flows');
  expect(keep(stateDir)).toEqual([]);
});

test('a second one of a day gets a name of its own', () => {
  const { home, stateDir } = stateOf();
  mkdirSync(join(home, '.holdfast-0-2027-01-31'));
  keep(stateDir);
  expect(readdirSync(join(home, '.holdfast-0-2027-01-31'))).toEqual([]);
  expect(existsSync(join(home, '.holdfast-0-2027-01-31-2', 'temporal.db'))).toBe(true);
});

test('a folder with keys alone has no state: they are used', () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'keys'));
  expect(keep(home)).toEqual([]);
  expect(readdirSync(home).toSorted()).toEqual(['format', 'keys']);
  expect(formatIn(home)).toBe(String(STATE_FORMAT));
});

test('what a sandbox alone has left is of this version: the first npm start goes on with it', () => {
  const home = temporaryFolder();
  mkdirSync(join(home, 'sandbox'));
  writeFileSync(join(home, 'sandbox', 'sandbox.db'), 'payments');
  expect(keep(home)).toEqual([]);
  expect(readdirSync(home).toSorted()).toEqual(['format', 'sandbox']);
  expect(formatIn(home)).toBe(String(STATE_FORMAT));
});

test('a sandbox of another format is set aside although Temporal has left nothing', () => {
  const { home, stateDir } = stateOf('7');
  rmSync(join(stateDir, 'temporal.db'));
  mkdirSync(join(stateDir, 'sandbox'));
  expect(keep(stateDir)).toHaveLength(1);
  expect(existsSync(join(home, '.holdfast-7-2027-01-31', 'sandbox'))).toBe(true);
});

test.each(['temporal.db', 'temporal.db-wal', 'keys', 'format'])(
  'state of which %s cannot be moved stays whole, and the same start later sets all of it aside',
  (name) => {
    const { home, stateDir } = stateOf('0');
    const before = readdirSync(stateDir);
    const tried: string[] = [];
    const rename = (from: string, to: string): void => {
      tried.push(basename(from));
      if (dirname(from) === stateDir && basename(from) === name) throw Object.assign(new Error(), { code: 'EACCES' });
      renameSync(from, to);
    };
    const fails = () => keepFormat(stateDir, () => undefined, { today: TODAY, rename: rename as typeof renameSync });
    expect(fails).toThrow(/could not be moved[^]*EACCES/);
    expect(readdirSync(stateDir)).toEqual(before);
    expect(readdirSync(home)).toEqual(['.holdfast']);
    expect(readFileSync(join(stateDir, 'temporal.db-wal'), 'utf8')).toBe('more flows');
    // A start that is killed in between leaves the format, and the keys, where the next one looks.
    if (name === 'format') expect(tried.slice(0, 4).slice(-2)).toEqual(['keys', 'format']);
    expect(keep(stateDir)).toHaveLength(1);
    expect(readdirSync(join(home, '.holdfast-0-2027-01-31'))).toContain('keys');
  },
);

test('state that cannot be moved back either is told to lie in two places', () => {
  const { stateDir } = stateOf('0');
  const rename = (from: string, to: string): void => {
    if (dirname(from) !== stateDir || basename(from) === 'keys') throw Object.assign(new Error(), { code: 'EIO' });
    renameSync(from, to);
  };
  const fails = () => keepFormat(stateDir, () => undefined, { today: TODAY, rename: rename as typeof renameSync });
  expect(fails).toThrow(/\.holdfast-0-2027-01-31 \(EIO, and a part of it lies there now\): move it away/);
});

test('state that cannot be moved stays, and a sentence says what to do', () => {
  // A name so long that no longer one can be made.
  const stateDir = join(temporaryFolder(), 'x'.repeat(250));
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, 'temporal.db'), 'flows');
  expect(() => keep(stateDir)).toThrow(StateFormatError);
  expect(() => keep(stateDir)).toThrow(/format 0[^]*ENAMETOOLONG[^]*HOLDFAST_STATE_DIR/);
  expect(readdirSync(stateDir)).toEqual(['temporal.db']);
});
