import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReconcileDeps } from '../activities/reconcile.js';

const STATEMENT = /\.(jsonl|csv)$/;

/** Reads the folder anew for each reconciliation. A folder that is gone fails it, until somebody mends that. */
export function statementsIn(folder: string | undefined): ReconcileDeps['statements'] {
  if (folder === undefined) return undefined;
  return async () => {
    const names = (await readdir(folder)).filter((name) => STATEMENT.test(name)).sort();
    return await Promise.all(
      names.map(async (name) => {
        const path = join(folder, name);
        const { mtimeMs, ctimeMs } = await stat(path);
        // A copy may keep the time at which its original was written, and never that at which it came here.
        return { name, text: await readFile(path, 'utf8'), changed: Math.max(mtimeMs, ctimeMs) };
      }),
    );
  };
}
