import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of a certificate and its key, in PEM. */
export interface Pair {
  cert: string;
  key: string;
}

/** A certificate authority of a test's own, made with openssl in a folder. */
export interface Authority extends Pair {
  /** @param days negative: it has lapsed. Default 2 */
  issue(name: string, days?: number): Pair;
}

/** Why no certificates can be made here; undefined if they can. */
export function whyNoCertificates(): string | undefined {
  const { status, error, stderr } = spawnSync('openssl', ['version'], { encoding: 'utf8' });
  return status === 0 ? undefined : `openssl can't be run (${error?.message ?? stderr})`;
}

export function createAuthority(folder: string, name: string): Authority {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true });
  const path = (file: string): string => join(home, file);
  const own = { cert: path('ca.pem'), key: path('ca.key') };
  const subject = ['-subj', `/CN=${name}`];
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(['req', '-x509', ...newKey, '-keyout', own.key, '-out', own.cert, '-days', '2', ...subject]);
  writeFileSync(path('extensions'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  let count = 0;
  return {
    ...own,
    issue(subjectName, days = 2) {
      count += 1;
      const pair = { cert: path(`${count}.pem`), key: path(`${count}.key`) };
      const request = path(`${count}.csr`);
      openssl(['req', ...newKey, '-keyout', pair.key, '-out', request, '-subj', `/CN=${subjectName}`]);
      const signed = ['-CA', own.cert, '-CAkey', own.key, '-CAcreateserial', '-extfile', path('extensions')];
      openssl(['x509', '-req', '-in', request, ...signed, '-days', String(days), '-out', pair.cert]);
      return pair;
    },
  };
}

/** Puts a certificate in the place of another one, as a renewal does. */
export function replacePair(place: Pair, by: Pair): void {
  copyFileSync(by.key, place.key);
  copyFileSync(by.cert, place.cert);
}

function openssl(args: readonly string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr}`);
}
