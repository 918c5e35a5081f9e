import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { TestStack } from '../support/stack.js';
import { startStack } from '../support/stack.js';
import { until } from '../support/until.js';
import { SCENARIOS } from './scenarios.js';

// Run by `npm run golden` only: records the histories that do not exist yet.
const FOLDER = new URL('./histories/', import.meta.url);
const fileOf = (name: string): URL => new URL(`${name}.json`, FOLDER);

let stack: TestStack;
beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true });
  stack = await startStack({ pendingMs: 3_600_000 });
});
afterAll(async () => {
  await stack?.close();
});

describe('a golden history', () => {
  const wanted = Object.entries(SCENARIOS).filter(([name]) => !existsSync(fileOf(name)));
  if (wanted.length === 0) test('is missing nowhere', () => expect(wanted).toEqual([]));
  for (const [name, run] of wanted) {
    test(`can be made: ${name}`, async () => {
      const handle = stack.temporal.workflow.getHandle(await run(stack));
      const { status } = await until(
        () => handle.describe(),
        (description) => description.status.name !== 'RUNNING',
      );
      expect(['COMPLETED', 'FAILED', 'CANCELLED']).toContain(status.name);
      writeFileSync(fileOf(name), `${JSON.stringify(historyToJSON(await handle.fetchHistory()))}\n`, { flag: 'wx' });
    });
  }
});
