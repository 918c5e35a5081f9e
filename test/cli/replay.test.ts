import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isMadeByReset, REPLAYED_TYPES } from '../../src/cli/replay.js';
import * as workflows from '../../workflows/index.js';

type History = Parameters<typeof isMadeByReset>[0];
const recorded = (name: string): History =>
  JSON.parse(readFileSync(new URL(`../replay/histories/${name}.json`, import.meta.url), 'utf8')) as History;

test('the gate of a deploy replays every type of flow that workers register', () => {
  expect([...REPLAYED_TYPES].toSorted()).toEqual(Object.keys(workflows).toSorted());
});

test('it leaves out what a reset made, and nothing else', () => {
  expect(isMadeByReset(recorded('charge-risk-declined-then-reset'))).toBe(true);
  expect(isMadeByReset(recorded('charge-risk-declined-then-reset-to-its-end'))).toBe(true);
  expect(isMadeByReset(recorded('charge-risk-declined'))).toBe(false);
});
