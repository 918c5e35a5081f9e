import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** A secret file that can't be trusted, read or created. The message says what to do. */
export class SecretFileError extends Error {
  override readonly name = 'SecretFileError';
}

/**
 * Text of a file with mode 0600, created on first use. Several processes may start at once, so each writes its own file
 * and the first to link it into place wins: all get the same secret, and none reads a partial one.
 * @throws SecretFileError
 */
export function loadOrCreateSecretFile(path: string, make: () => string): string {
  return readSecretFile(path) ?? createSecretFile(path, make());
}

/** Text of the file, or undefined when it does not exist. @throws SecretFileError */
export function readSecretFile(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new SecretFileError(`${path} can't be read (${codeOf(error)}); it should belong to this user, mode 0600`);
  }
  try {
    const status = fstatSync(file);
    const { mode } = status;
    if ((mode & 0o077) !== 0 && !isHandedToOurGroup(status)) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0');
      throw new SecretFileError(`${path} is open to other users (mode ${shown}); run: chmod 600 ${path}`);
    }
    const text = readFileSync(file, 'utf8').trim();
    if (text === '') throw new SecretFileError(`${path} is empty; restore it, or remove it if nothing was stored yet`);
    return text;
  } finally {
    closeSync(file);
  }
}

/**
 * A Secret that Kubernetes mounts belongs to root and to the group of `fsGroup`, mode 0440, and nothing in the pod can change
 * that. So a file of root's may be read by a group of this process, by which alone it reads it itself; a file of its own
 * user may not, which that user can mend.
 */
export function isHandedToOurGroup(
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  { user, groups } = { user: process.geteuid?.(), groups: [process.getegid?.(), ...(process.getgroups?.() ?? [])] },
): boolean {
  return uid === 0 && user !== 0 && (mode & 0o037) === 0 && groups.includes(gid);
}

function createSecretFile(path: string, secret: string): string {
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(file, `${secret}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(temporary, path);
    return secret;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') {
      throw new SecretFileError(`${path} can't be made (${codeOf(error)}); check HOLDFAST_STATE_DIR`);
    }
    const winner = readSecretFile(path);
    if (winner === undefined) throw new SecretFileError(`${path} vanished while it was made; start again`);
    return winner;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown error';
}
