import { expect, test } from 'vitest';
import { SERVICES, SHARDS, WORKERS } from '../../tools/bench/scaling/cells.js';
import { tableOf } from '../../tools/bench/scaling/documented.js';
import { documentedSizes } from '../../tools/bench/scaling/sizes.js';

test('what a merchant runs follows from the tables of figures', () => {
  const sizes = documentedSizes();
  expect(tableOf('scaling.md', ...(sizes[0] ?? []))).toEqual(sizes);
});

test('each cell was measured', () => {
  const [, ...rows] = tableOf('scaling.md', 'a POST takes', 'shards', 'per s');
  const cells = rows.map(([service, shards, workers]) => `${service}, ${shards}, ${workers}`);
  const each = SERVICES.flatMap((service) =>
    SHARDS.flatMap((shards) => WORKERS.map((workers) => `${service} ms, ${shards}, ${workers}`)),
  );
  expect(cells).toEqual(each);
});
