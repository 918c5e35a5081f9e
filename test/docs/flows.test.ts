import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { isFinalPhase, STATEFUL_FLOWS, transitionsOf } from '../../src/domain/flow-states.js';
import { diagramOf, flowsPage, withDiagrams } from '../../tools/flow-diagrams.js';

const PAGE = readFileSync(flowsPage(), 'utf8');

/** The part of the page under the heading of one flow. */
function chapter(name: string): string {
  return PAGE.split(/^## /m).find((part) => part.startsWith(`${name}\n`)) ?? '';
}

describe('the page on flows', () => {
  test('draws what the data says (npm run flows does it)', () => {
    expect(withDiagrams(PAGE) === PAGE).toBe(true);
    expect(withDiagrams(PAGE.replace('creatingPayment', 'elsewhere'))).toBe(PAGE);
    expect(() => withDiagrams(PAGE.replace('<!-- end of credit -->', ''))).toThrow('<!-- end of credit -->');
  });

  test.each(STATEFUL_FLOWS)('has a chapter on %s with its own diagram, an example and its limits', (type) => {
    expect(Object.values<string>(WORKFLOW_TYPES)).toContain(type);
    const text = chapter(type);
    expect(text).toContain(diagramOf(type));
    expect(text).toMatch(/```js\n.*await holdfast\./s);
    expect(text).toMatch(/^Limits: /m);
  });

  test.each(STATEFUL_FLOWS)('names in its table every way in which %s can end', (type) => {
    const row = PAGE.split('\n').find((line) => line.startsWith(`| [\`${type}\`]`)) ?? '';
    const ends = new Set(transitionsOf(type).flatMap(({ to }) => (isFinalPhase(type, to) ? [to] : [])));
    for (const end of type === 'paymentActions' ? ['idle'] : ends) expect(row).toContain(`\`${end}\``);
  });
});

describe('a diagram', () => {
  test.each(STATEFUL_FLOWS)('of %s has every line of the data, in words that Mermaid reads', (type) => {
    const [fence, kind, ...lines] = diagramOf(type).split('\n');
    expect([fence, kind, lines.pop()]).toEqual(['```mermaid', 'stateDiagram-v2', '```']);
    for (const line of lines) expect(line).toMatch(/^ {2}(\[\*\] --> \w+|\w+ --> (\[\*\]|\w+ : [a-z][a-z ,]+))$/);
    for (const { from, to } of transitionsOf(type)) {
      expect(lines.some((line) => line.startsWith(`  ${from} --> ${to} : `))).toBe(true);
    }
  });
});
