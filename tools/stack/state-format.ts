import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Raised when this code can't go on with what older code has left in the state folder of `npm start`: histories that do not
 * replay, payloads or databases of another form.
 */
export const STATE_FORMAT = 1;

const FILE = 'format';
/** A file of every `npm start`, and of no other process. */
const TEMPORAL = 'temporal.db';
/** Without these there is no flow and no payment: keys and logs alone are of any format. */
const DATABASES = [TEMPORAL, 'sandbox', 'embedded'];
/** What the stack writes there. A folder may hold something else too, which is left alone. */
const OURS = /^(?:temporal\.(?:db|toml).*|sandbox|embedded|keys|logs|format)$/;

/** Moved last: as long as a database is there, a start after a kill finds its keys beside it, and which format it is of. */
const LAST = ['keys', FILE];

/** The state can't be set aside. The message says what to do. */
export class StateFormatError extends Error {
  override readonly name = 'StateFormatError';
}

/**
 * Keeps this code from state of another format: that is set aside beside the folder, keys and all, and nothing of it is
 * lost. For the holder of the run file only, after the processes of an earlier stack have ended.
 * @throws StateFormatError
 */
export function keepFormat(
  stateDir: string,
  say: (line: string) => void,
  { today = new Date(), rename = renameSync }: { today?: Date; rename?: typeof renameSync } = {},
): void {
  const found = formatOf(stateDir);
  if (found === undefined) return writeFileSync(join(stateDir, FILE), `${STATE_FORMAT}\n`);
  if (found === String(STATE_FORMAT)) return;
  const aside = freeName(`${stateDir}-${found}-${today.toISOString().slice(0, 10)}`);
  try {
    moveWhole(stateDir, aside, rename);
  } catch (error) {
    throw new StateFormatError(
      `${stateDir} has state of format ${found}, and this version keeps format ${STATE_FORMAT}. It could not be moved to ` +
        `${aside} (${(error as NodeJS.ErrnoException).code}${existsSync(aside) ? ', and a part of it lies there now' : ''}): ` +
        'move it away, or name another folder in HOLDFAST_STATE_DIR',
    );
  }
  writeFileSync(join(stateDir, FILE), `${STATE_FORMAT}\n`);
  say(
    `The state in ${basename(stateDir)} is of format ${found}, and this version keeps format ${STATE_FORMAT}: it is set aside as ` +
      `${aside}, and a new one begins. Its flows go on under the version that made it, with HOLDFAST_STATE_DIR=${aside}; ` +
      'remove it once you no longer need them.',
  );
}

/** Moves all or nothing: half of a state in either folder would be gone on with as if it were the whole. */
function moveWhole(stateDir: string, aside: string, rename: typeof renameSync): void {
  mkdirSync(aside, { mode: 0o700 });
  const found = readdirSync(stateDir).filter((one) => OURS.test(one));
  const moved: string[] = [];
  try {
    for (const name of [...found.filter((one) => !LAST.includes(one)), ...LAST.filter((one) => found.includes(one))]) {
      rename(join(stateDir, name), join(aside, name));
      moved.push(name);
    }
  } catch (error) {
    for (const name of moved.toReversed()) rename(join(aside, name), join(stateDir, name));
    rmdirSync(aside);
    throw error;
  }
}

/**
 * undefined for a folder without state. Before there were formats none was written: `0`. A sandbox that runs alone, or did
 * before the first `npm start`, writes none either, and its state is of this version.
 */
function formatOf(stateDir: string): string | undefined {
  const has = (name: string): boolean => existsSync(join(stateDir, name));
  if (!(has(FILE) ? DATABASES : [TEMPORAL]).some(has)) return undefined;
  const text = has(FILE) ? readFileSync(join(stateDir, FILE), 'utf8').trim() : '0';
  return /^\d{1,6}$/.test(text) ? text : 'unknown';
}

function freeName(wanted: string): string {
  let name = wanted;
  for (let next = 2; existsSync(name); next += 1) name = `${wanted}-${next}`;
  return name;
}
