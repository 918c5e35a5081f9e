import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { matchesGlob } from '../../sandbox/faults.js';
import { SqliteStorage } from '../../sandbox/storage.js';
import { Store } from '../../sandbox/store.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-store-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the store', () => {
  test('a transaction that throws leaves neither memory nor disk changed, and runs nothing afterwards', () => {
    const store = new Store(new SqliteStorage(folder));
    store.transaction(() => store.settings.put({ name: 'a', value: 1 }));
    let ran = false;
    expect(() =>
      store.transaction(() => {
        store.settings.put({ name: 'a', value: 2 });
        store.settings.put({ name: 'b', value: 3 });
        store.settings.delete('a');
        store.afterCommit(() => (ran = true));
        throw new Error('halfway');
      }),
    ).toThrow('halfway');
    expect([store.setting('a'), store.setting('b'), ran]).toEqual([1, undefined, false]);
    store.transaction(() => undefined);
    expect(ran).toBe(false);
    store.close();
    const again = new Store(new SqliteStorage(folder));
    expect([again.setting('a'), again.setting('b')]).toEqual([1, undefined]);
    again.close();
  });

  test('cold text stays with its row through changes, and goes with it', () => {
    const store = new Store(new SqliteStorage(folder));
    store.transaction(() => store.settings.put({ name: 'a', value: 1 }, 'cold text'));
    store.transaction(() => store.settings.put({ name: 'a', value: 2 }));
    expect(store.cold(store.settings, 'a')).toBe('cold text');
    store.transaction(() => store.settings.delete('a'));
    expect(store.cold(store.settings, 'a')).toBeUndefined();
    store.close();
  });

  test('a change outside a transaction is a fault, not a lost write', () => {
    const store = new Store(new SqliteStorage(folder));
    expect(() => store.settings.put({ name: 'a', value: 1 })).toThrow('outside a transaction');
    expect(store.setting('a')).toBeUndefined();
    store.close();
  });

  test('state that is open can not be opened twice, and can again once it is closed', () => {
    const store = new Store(new SqliteStorage(folder));
    expect(() => new Store(new SqliteStorage(folder))).toThrow('another sandbox is using it');
    store.close();
    new Store(new SqliteStorage(folder)).close();
  });
});

test('a pattern matches exactly as its stars read', () => {
  const piece = fc.stringMatching(/^[ab/.]{0,4}$/);
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), fc.stringMatching(/^[ab/.]{0,12}$/), (parts, text) => {
      const regex = new RegExp(`^${parts.map((part) => part.replaceAll('.', '\\.')).join('[^]*')}$`);
      expect(matchesGlob(parts.join('*'), text)).toBe(regex.test(text));
    }),
    { numRuns: 2_000 },
  );
});
