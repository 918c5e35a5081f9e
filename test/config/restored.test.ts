import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe as group, expect, test } from 'vitest';
import { describe, loadConfig } from '../../src/config/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { env, faultsOf } from './support.js';

const LOST = '2026-01-31T09:00:00Z,2026-01-31T10:00:00Z';
const FILE = 'HOLDFAST_RESTORED_STATEMENT_FILE';

function statementFile(...lines: string[]): string {
  const path = join(temporaryFolder(), 'statement.jsonl');
  writeFileSync(path, lines.join('\n'));
  return path;
}
const restored = (changes: Record<string, string>) => () => loadConfig(env({ HOLDFAST_RESTORED_TO: LOST, ...changes }));

group('after a restore from a backup', () => {
  test('the lost time is read and shown at start, and nothing is where nothing was restored', () => {
    const config = restored({})();
    expect(config.restoredTo).toEqual({
      from: Date.parse('2026-01-31T09:00:00Z'),
      until: Date.parse('2026-01-31T10:00:00Z'),
    });
    expect(describe(config)).toContain('HOLDFAST_RESTORED_TO=2026-01-31T09:00:00.000Z,2026-01-31T10:00:00.000Z');
    expect(describe(loadConfig(env()))).toContain('HOLDFAST_RESTORED_TO=nothing was restored');
  });

  test('each fault of it is said with the variable', () => {
    expect(faultsOf(restored({ HOLDFAST_RESTORED_TO: 'monday,2026-01-31' }))).toEqual([
      expect.stringMatching(/^HOLDFAST_RESTORED_TO="monday,2026-01-31": <from> is "monday"/),
      expect.stringMatching(/^HOLDFAST_RESTORED_TO="monday,2026-01-31": <until> is "2026-01-31"/),
    ]);
  });

  test('a statement that covers it is read, and shown by what it covers', () => {
    const row = {
      kind: 'charge',
      status: 'Succeed',
      payment_id: 'pay-1',
      transaction_id: 'tx-1',
      reconciliation_id: 'order-1',
      amount: 1095,
      currency: 'USD',
    };
    const path = statementFile('{"covers":"2026-01-31T08:00:00Z,2026-01-31T12:00:00Z"}', JSON.stringify(row));
    const config = restored({ [FILE]: path })();
    expect(config.restoredStatement?.entries.get('order-1')).toHaveLength(1);
    expect(describe(config)).toContain(
      `${FILE}: covers 2026-01-31T08:00:00.000Z,2026-01-31T12:00:00.000Z and names 1 references`,
    );
  });

  test('a statement is refused with every fault of it, or without a lost time', () => {
    const faulty = statementFile('{"covers":"2026-01-31T08:00:00Z,2026-01-31T12:00:00Z"}', '{}', 'x');
    const faults = faultsOf(restored({ [FILE]: faulty }));
    expect(faults).toHaveLength(5);
    expect(faults).toEqual(faults.map(() => expect.stringMatching(/^HOLDFAST_RESTORED_STATEMENT_FILE: line [23]: /)));
    const short = statementFile('{"covers":"2026-01-31T09:00:00Z,2026-01-31T10:00:00Z"}');
    expect(faultsOf(restored({ [FILE]: short }))).toEqual([expect.stringContaining('it covers')]);
    expect(faultsOf(restored({ [FILE]: '/nowhere/statement' }))).toEqual([expect.stringContaining('ENOENT')]);
    expect(faultsOf(() => loadConfig(env({ [FILE]: short })))).toEqual([
      expect.stringContaining('is set without HOLDFAST_RESTORED_TO'),
    ]);
    expect(faultsOf(restored({ [FILE]: short, HOLDFAST_RESTORED_TO: 'now' }))).toHaveLength(1);
  });
});
