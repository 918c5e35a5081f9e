import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Circuit } from '../../activities/circuit.js';

test('a circuit is open after ten bad calls in a row, never while most are good, and never shut for good', () => {
  const calls = fc.array(fc.record({ waitMs: fc.nat(20_000), tookMs: fc.nat(8_000), answered: fc.boolean() }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(calls, (all) => {
      const circuit = new Circuit(10);
      let now = 0;
      const ended: { at: number; good: boolean }[] = [];
      for (const { waitMs, tookMs, answered } of all) {
        now += waitMs;
        const call = circuit.begin(now);
        now += tookMs;
        circuit.end(call, now, answered);
        ended.push({ at: now, good: answered && tookMs <= 3_000 });
        const last = ended.slice(-20).filter(({ at }) => at > now - 60_000);
        if (last.filter((one) => one.good).length * 2 > last.length) expect(circuit.isOpen(now)).toBe(false);
        if (last.length >= 10 && last.slice(-10).every((one) => !one.good)) expect(circuit.isOpen(now)).toBe(true);
      }
      // Whatever has been: within 5 s at most one goes through, and one goes through.
      now += 5_000;
      expect(circuit.letsThrough(now)).toBe(true);
    }),
  );
});
