import { setImmediate } from 'node:timers/promises';
import { Client, type Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { askLines } from '../../src/cli/ask-lines.js';
import type { Engine } from '../../src/cli/engine.js';
import type { Line } from '../../src/cli/line-file.js';
import type { Report } from '../../src/cli/line-report.js';

test('once an answer can not be reported no further line is asked, and those that are under way are awaited', async () => {
  const seen: string[] = [];
  const lines = ['slow', 'lost', 'kept', 'never', 'never'].map((reference, index) => ({
    ...{ number: index + 1, reference, workflowId: `subscription-${reference}`, hash: String(index) },
    ask: async () => {
      seen.push(`asks ${reference}`);
      if (reference === 'lost') return {};
      // Until the other one could not be reported.
      while (!seen.includes('full')) await setImmediate();
      for (let turns = 0; turns < 10; turns += 1) await setImmediate();
      seen.push(`answers ${reference}`);
      return {};
    },
  })) as unknown as Line[];
  const report = {
    open: () => undefined,
    close: () => seen.push('closed'),
    add: ({ reference }: Line) => {
      if (reference !== 'lost') return { result: 'outcome', outcome: {} };
      seen.push('full');
      throw new Error('the disk is full');
    },
  } as unknown as Report;
  const engine = { client: new Client({ connection: {} as Connection }) } as Engine;
  const asking = { report, done: new Set<string>(), rate: 20, json: true };
  const output = { print: () => undefined, printError: () => undefined };
  await expect(askLines(engine, lines, asking, output)).rejects.toThrow('the disk is full');
  expect(seen).toEqual(['asks slow', 'asks lost', 'full', 'answers slow', 'closed']);
});
