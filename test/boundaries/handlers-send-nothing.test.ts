import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const WORKFLOWS = new URL('../../workflows/', import.meta.url);
const SOURCES = readdirSync(WORKFLOWS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const REGISTERS =
  /\bset(?:Default(?:Signal|Update|Query))?Handler\(|\bonUpdate\(|\bcommandRegistrar\b|\banswerQueries\(/;
const SENDS = /\bproxy(?:Local)?Activities\b|\bexecuteChild\b|\bstartChild\b/;

/** Loads activities for its main path. What its handler may do stands here. */
const WITH_A_MAIN_PATH: Readonly<Record<string, string>> = {
  'billing/refuse-start.ts': 'async () => { throw await whole; }',
};

const read = (name: string): string => readFileSync(new URL(name, WORKFLOWS), 'utf8');
const handlerFiles = SOURCES.filter((name) => REGISTERS.test(read(name)));

/** Every module of ours that a module loads, itself included; imports of types load nothing. */
function loadedBy(file: URL, seen = new Set<string>()): Set<string> {
  if (seen.has(file.href)) return seen;
  seen.add(file.href);
  const source = readFileSync(file, 'utf8');
  for (const [, from = ''] of source.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)\.js';$/gm)) {
    loadedBy(new URL(`${from}.ts`, file), seen);
  }
  return seen;
}

// What a handler sends would run beside the main loop, and could send twice what that sends once.
describe('no message handler can reach an activity: whatever it wants sent, the main loop sends', () => {
  test('and every file that registers one is looked at', () => {
    expect(handlerFiles).toEqual(
      expect.arrayContaining([
        'flow/handlers.ts',
        'flow/command-handlers.ts',
        'billing/commands.ts',
        'billing/handlers.ts',
        'parked/handlers.ts',
      ]),
    );
  });

  test.each(handlerFiles.filter((name) => !(name in WITH_A_MAIN_PATH)))('in %s', (name) => {
    const loaded = [...loadedBy(new URL(name, WORKFLOWS))];
    expect(loaded.length).toBeGreaterThan(5);
    expect(loaded.filter((file) => SENDS.test(readFileSync(new URL(file), 'utf8')))).toEqual([]);
  });

  test.each(Object.entries(WITH_A_MAIN_PATH))('in %s, whose handler only waits for its main path', (name, handler) => {
    const source = read(name).replaceAll(/\s+/g, ' ');
    expect(source.match(new RegExp(REGISTERS, 'g'))).toHaveLength(1);
    expect(source).toContain(`setHandler(subscriptionOutcomeUpdate, ${handler});`);
  });
});
