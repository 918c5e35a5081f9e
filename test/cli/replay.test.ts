import { expect, test } from 'vitest';
import { REPLAYED_TYPES } from '../../src/cli/replay.js';
import * as workflows from '../../workflows/index.js';

test('the gate of a deploy replays every type of flow that workers register', () => {
  expect([...REPLAYED_TYPES].toSorted()).toEqual(Object.keys(workflows).toSorted());
});
