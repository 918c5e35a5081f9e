import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Config } from '../../src/config/index.js';
import { createLogger } from '../../src/security/logging.js';
import { refuseToBill, stopBillingInTime } from '../../workers/restored.js';

const FROM = Date.parse('2026-01-31T09:00:00Z');
const HOUR = 3_600_000;
const MINUTE = 60_000;
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

afterEach(() => void vi.useRealTimers());

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

  test.each(['at the time', 'before it began to run', 'while the machine slept'] as const)(
    'stops billing 20 h after the backup, when that comes %s',
    (when) => {
      vi.useFakeTimers({ now: FROM + 19 * HOUR });
      let state = when === 'before it began to run' ? 'INITIALIZED' : 'RUNNING';
      const billing = { getState: () => state, shutdown: () => (state = 'STOPPING') };
      stopBillingInTime(
        configOf({}),
        billing as never,
        createLogger({ name: 'worker', stream: { write: () => undefined } }),
      );
      // Timers stand still while a machine sleeps, the clock does not.
      const slept = when === 'while the machine slept';
      vi.advanceTimersByTime(slept ? MINUTE : HOUR - 1);
      expect(state).not.toBe('STOPPING');
      if (slept) vi.setSystemTime(FROM + 21 * HOUR);
      else vi.advanceTimersByTime(MINUTE);
      if (state === 'INITIALIZED') state = 'RUNNING';
      vi.advanceTimersByTime(10_000);
      expect(state).toBe('STOPPING');
    },
  );
});
