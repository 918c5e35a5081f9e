import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/index.js';
import { refuseToBill } from '../../workers/restored.js';

const FROM = Date.parse('2026-01-31T09:00:00Z');
const HOUR = 3_600_000;
const restoredTo = { from: FROM, until: FROM + HOUR };
const statement = { covers: restoredTo, entries: new Map(), bills: new Map(), paymentIds: new Set<string>() };
const configOf = (changes: Partial<Config>): Config => ({ taskQueues: 'all', restoredTo, ...changes }) as Config;
const refusal = (changes: Partial<Config>, now: number): string => {
  try {
    refuseToBill(configOf(changes), now);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('a worker after a restore', () => {
  test.each(['all', 'billing'] as const)('of %s queues does not start from 20 h after the backup on', (taskQueues) => {
    expect(refusal({ taskQueues }, FROM + 20 * HOUR - 1)).toBe('');
    const said = refusal({ taskQueues }, FROM + 20 * HOUR);
    for (const part of [
      '2026-02-01T05:00:00.000Z',
      'HOLDFAST_RESTORED_STATEMENT_FILE',
      'HOLDFAST_TASK_QUEUES=payments',
    ])
      expect(said).toContain(part);
  });

  test('starts with a statement, for payments alone, and where nothing was restored', () => {
    const late = FROM + 99 * HOUR;
    expect(refusal({ restoredStatement: statement }, late)).toBe('');
    expect(refusal({ taskQueues: 'payments' }, late)).toBe('');
    expect(() => refuseToBill({ taskQueues: 'all' } as Config, late)).not.toThrow();
  });
});
