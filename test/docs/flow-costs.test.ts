import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { flowCosts } from '../../tools/bench/support/flow-costs.js';

test('what each flow costs stands in the documentation as the histories have it', () => {
  const [, section = ''] = readFileSync('docs/performance.md', 'utf8').split('## What a flow costs');
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  const cells = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [head = [], ...rows] = flowCosts();
  const from = lines.findIndex((line) => cells(line).join() === head.join());
  expect(lines.slice(from + 2, from + 2 + rows.length).map(cells)).toEqual(rows);
});
