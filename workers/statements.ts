import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GivenStatement, ReconcileDeps } from '../activities/reconcile.js';
import { messageOf } from '../src/contract/message-of.js';

const STATEMENT = /\.(jsonl|csv)$/i;

type ReadText = (path: string) => Promise<string>;

/** Reads the folder anew for each reconciliation. A folder that is gone fails it, until somebody mends that. */
export function statementsIn(
  folder: string | undefined,
  readText: ReadText = async (path) => await readFile(path, 'utf8'),
): ReconcileDeps['statements'] {
  if (folder === undefined) return undefined;
  return async () => {
    // What is being copied, or belongs to a mount, begins with a dot.
    const names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
    const read = await Promise.all(
      names.map(async (name) => await statementOf(name, join(folder, name), readText).catch(unreadable(name))),
    );
    return read.filter((each) => each !== undefined);
  };
}

/** undefined for a folder in it. */
async function statementOf(name: string, path: string, readText: ReadText): Promise<GivenStatement | undefined> {
  const about = await stat(path);
  // A copy may keep the time at which its original was written, and never that at which it came here.
  const given = { name, changed: Math.max(about.mtimeMs, about.ctimeMs) };
  const isStatement = STATEMENT.test(name);
  // The read of a pipe would never end.
  if (!about.isFile()) return isStatement ? { ...given, fault: 'is no file, and so no statement' } : undefined;
  if (isStatement) return { ...given, text: await readText(path) };
  return { ...given, fault: 'is neither .jsonl nor .csv: nothing else is read here' };
}

/** One file must not keep all others from being matched. As if it came now: each reconciliation names it, until it is mended. */
const unreadable =
  (name: string) =>
  (error: unknown): GivenStatement => ({
    name,
    changed: Date.now(),
    fault: `can't be read: ${messageOf(error)}; the next daily reconciliation tries again, unless it is taken away`,
    unread: true,
  });
