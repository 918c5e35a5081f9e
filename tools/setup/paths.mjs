import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of `package.json`. */
export const rootDir = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const distDir = join(rootDir, 'dist');

/** Shared by all checkouts of a user. Read at each call, because tests change HOME. */
export function cacheDir() {
  return join(homedir(), '.cache', 'holdfast');
}
