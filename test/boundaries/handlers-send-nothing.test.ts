import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const HANDLERS = new URL('../../workflows/flow/handlers.ts', import.meta.url);

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
test('no message handler can reach an activity: whatever it wants sent, the main loop sends', () => {
  const loaded = [...loadedBy(HANDLERS)];
  expect(loaded.length).toBeGreaterThan(5);
  const sending = loaded.filter((file) => /proxy(Local)?Activities/.test(readFileSync(fileURLToPath(file), 'utf8')));
  expect(sending).toEqual([]);
});
