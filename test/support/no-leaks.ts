import { afterAll, expect } from 'vitest';
import { takeCopies } from './copies.js';

/**
 * Files of one process share it: what one changes and does not put back fails another, in whichever order they ran. So
 * each file is asked, after its own clean-up.
 */
const before = { cwd: process.cwd(), env: { ...process.env }, globals: globals() };

afterAll(() => {
  expect({ cwd: process.cwd(), env: process.env }).toEqual({ cwd: before.cwd, env: before.env });
  const now: Record<string, unknown> = globals();
  const changed = Object.entries(before.globals).filter(([name, value]) => now[name] !== value);
  expect(changed.map(([name]) => `${name} is left replaced`)).toEqual([]);
  // No path of ours gives a flow what was encrypted for another one, whatever the file tests.
  expect(takeCopies()).toEqual([]);
});

// It tries to connect again from timers, for as long as its process lives, and in virtual time that is at once.
if (process.env['HOLDFAST_NO_CONNECTIONS'] === '1' && process.env['HOLDFAST_ENGINE'] !== 'real') {
  const { Connection } = await import('@temporalio/client');
  const refuse = (): never => {
    throw new Error('Files in the simulation make no real connection: name this file in NOT_SIMULATED of groups.mjs');
  };
  Object.assign(Connection, { connect: refuse, lazy: refuse });
}

/** What fakes replace. */
function globals() {
  const { Date, clearTimeout, fetch, setImmediate, setInterval, setTimeout } = globalThis;
  return { Date, clearTimeout, fetch, random: Math.random, setImmediate, setInterval, setTimeout };
}
