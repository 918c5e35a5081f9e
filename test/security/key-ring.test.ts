import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect, promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createDataConverter } from '../../src/security/data-converter.js';
import { KeyRingError, loadOrCreateKeyFile, parseKeyRing } from '../../src/security/key-ring.js';
import { SecretFileError } from '../../src/security/secret-file.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');

function faultsOf(text: string): readonly string[] {
  try {
    parseKeyRing(text);
  } catch (error) {
    if (error instanceof KeyRingError) return error.faults;
    throw error;
  }
  return [];
}

describe('parseKeyRing', () => {
  test('encrypts with the first key and knows them all', () => {
    const ring = parseKeyRing(`new:${key(2)}, old:${key(1)}`);
    expect(ring.currentId).toBe('new');
    expect(ring.ids).toEqual(['new', 'old']);
    expect(ring.find('old')?.export()).toEqual(Buffer.alloc(32, 1));
    expect(ring.find('other')).toBeUndefined();
  });

  test('lists every fault at once and prints no key', () => {
    const secret = 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I=';
    const faults = faultsOf(
      `a:${secret.slice(0, 20)},${secret},bad id:${secret},b:not*base64,,c:${key(3)},c:${key(4)},d:${key(3)}`,
    );
    expect(faults).toHaveLength(7);
    expect(faults[0]).toMatch(/entry 1 \("a"\) is 15 bytes long; AES-256 needs 32/);
    expect(faults[1]).toMatch(/entry 2 has no key id/);
    expect(faults[5]).toMatch(/entry 7 \("c"\) uses an id that is already taken/);
    expect(faults[6]).toMatch(/entry 8 \("d"\) holds the same key as entry "c"/);
    expect(faults.join()).not.toMatch(/c2Vjc|not\*base64|AwMD/);
  });

  test('does not take id and key in the wrong order for an id', () => {
    expect(faultsOf(`${key(5)}:k1`).join()).not.toContain(key(5).slice(0, 8));
  });

  test('shows no key when options that hold the ring are dumped', () => {
    const dataConverter = createDataConverter(parseKeyRing(`k1:${key(7)}`));
    const dumps = [
      inspect({ dataConverter }, { depth: Infinity, showHidden: true, getters: true }),
      JSON.stringify({ dataConverter }),
    ];
    for (const dump of dumps) {
      expect(dump).not.toContain(key(7).slice(0, 12));
      expect(dump).not.toMatch(/(07 ){3}|(0?7,\s*){3}/);
    }
  });
});

describe('loadOrCreateKeyFile', () => {
  test('makes a file that only its owner can read, and reads it again', () => {
    const path = join(temporaryFolder(), 'keys', 'encryption-keys');
    const made = loadOrCreateKeyFile(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(loadOrCreateKeyFile(path).find(made.currentId)?.equals(made.find(made.currentId)!)).toBe(true);
  });

  test('refuses a file that others can read, and says what to do', () => {
    const path = join(temporaryFolder(), 'encryption-keys');
    writeFileSync(path, `k1:${key(1)}`);
    chmodSync(path, 0o640);
    expect(() => loadOrCreateKeyFile(path)).toThrow(SecretFileError);
    expect(() => loadOrCreateKeyFile(path)).toThrow(`chmod 600 ${path}`);
  });

  test('never replaces a file that it cannot use', () => {
    const path = join(temporaryFolder(), 'encryption-keys');
    for (const content of ['', 'k1:short']) {
      writeFileSync(path, content, { mode: 0o600 });
      expect(() => loadOrCreateKeyFile(path)).toThrow();
      expect(readFileSync(path, 'utf8')).toBe(content);
    }
  });

  test('gives one key to all processes that start at once, and leaves no other file', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'encryption-keys');
    const module = new URL('../../dist/src/security/key-ring.js', import.meta.url).href;
    const script = `const { loadOrCreateKeyFile } = await import(${JSON.stringify(module)});
      const ring = loadOrCreateKeyFile(${JSON.stringify(path)});
      process.stdout.write(ring.find(ring.currentId).export().toString('hex'));`;
    const starts = Array.from({ length: 8 }, () =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]),
    );
    const keys = (await Promise.all(starts)).map(({ stdout }) => stdout);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(readdirSync(folder)).toEqual(['encryption-keys']);
  });
});
