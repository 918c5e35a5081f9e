import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { FingerprintParts } from '../../src/contract/idempotency.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { PAYMENT_STATUSES, WAITING_FOR } from '../../src/contract/statuses.js';

const pageOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const PAGE = pageOf('docs/flows.md');

/** Those with a chapter on this page. */
const FLOWS = ['charge', 'authorizeAndCapture', 'paymentActions', 'credit', 'analyseRisk', 'storeCard'] as const;
/** Explained elsewhere: subscriptions and cards have pages of their own, the other two nobody starts for a payment. */
const OTHERS = ['subscription', 'listCards', 'removeCard', 'resolvePending', 'parkedEvent'] as const;

/** The part of the page under the heading of one flow. */
function chapterOf(type: string): string {
  return PAGE.split(/^## /m).find((part) => part.startsWith(`${type}\n`)) ?? '';
}

/** The lines of the flow's diagram. */
function diagramOf(type: string): string[] {
  const [, text = ''] = /```mermaid\nstateDiagram-v2\n(.*?)\n```/s.exec(chapterOf(type)) ?? [];
  return text.split('\n');
}

/** Where its lines begin, or where they lead. */
function states(lines: readonly string[], side: 'from' | 'to'): string[] {
  return lines.map((line) => /^ {2}(\S+) --> (\S+)/.exec(line)?.[side === 'from' ? 1 : 2] ?? line);
}

describe('the page on flows', () => {
  test('knows every type of flow', () => {
    expect([...FLOWS, ...OTHERS].toSorted()).toEqual(Object.values<string>(WORKFLOW_TYPES).toSorted());
  });

  test.each(FLOWS)('has a chapter on %s with a diagram, an example and its limits', (type) => {
    expect(diagramOf(type).length).toBeGreaterThan(1);
    expect(chapterOf(type)).toMatch(/```js\n.*await holdfast\./s);
    expect(chapterOf(type)).toMatch(/^Limits: /m);
  });

  test.each(FLOWS)('names in its table every way in which %s can end', (type) => {
    const row = PAGE.split('\n').find((line) => line.startsWith(`| [\`${type}\`]`)) ?? '';
    const lines = diagramOf(type);
    const ends = states(
      lines.filter((line) => line.endsWith('--> [*]')),
      'from',
    );
    for (const end of type === 'paymentActions' ? ['idle'] : ends) expect(row).toContain(`\`${end}\``);
    expect(row).not.toBe('');
  });
});

describe('the diagram', () => {
  test.each(FLOWS)('of %s is drawn in words that Mermaid reads', (type) => {
    for (const line of diagramOf(type))
      expect(line).toMatch(/^ {2}(\[\*\] --> \w+|\w+ --> (\[\*\]|\w+ : [a-z][a-z ,]+))$/);
  });

  test.each(FLOWS)('of %s shows a way into each of its states, and one out of it', (type) => {
    const lines = diagramOf(type);
    expect(new Set(states(lines, 'from'))).toEqual(
      new Set([...states(lines, 'to'), ...(type === 'paymentActions' ? ['[*]'] : [])]),
    );
  });
});

test('each state of a diagram is a status, or in the table of what the status is meanwhile', () => {
  const [, table = ''] = /^\| In a diagram .*\n\| -.*\n((?:\|.*\n)+)/m.exec(PAGE) ?? [];
  const rows = table
    .trim()
    .split('\n')
    .map((row) => row.split('|').map((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word)));
  const explained = rows.flatMap(([, named = []]) => named);
  const statuses: readonly string[] = PAYMENT_STATUSES;
  const drawn = new Set(FLOWS.flatMap((type) => states(diagramOf(type), 'from')));
  expect([...drawn].filter((state) => state !== '[*]' && !statuses.includes(state)).toSorted()).toEqual(
    explained.toSorted(),
  );
  for (const [, , status = [], waitingFor = []] of rows) {
    expect(statuses).toContain(status[0]);
    for (const one of waitingFor) expect(WAITING_FOR).toContain(one);
  }
});

/** What makes two inputs the same, as the pages call it. */
const COMPARED: Readonly<Record<Exclude<keyof FingerprintParts, 'reference'>, string>> = {
  type: 'type of flow',
  amount: 'amount',
  currency: 'currency',
  businessUnit: 'business unit',
  token: 'token',
  customerId: 'customer',
  plan: 'plan',
};

test.each(['docs/flows.md', 'README.md', 'docs/guarantees.md'])(
  '%s says what of an input a reference is kept to',
  (path) => {
    const [, named = ''] = /another (type of flow[^`|;]*)/i.exec(pageOf(path)) ?? [];
    for (const part of Object.values(COMPARED)) expect(named).toContain(part);
    expect(pageOf(path).replace(/\s+/g, ' ')).toMatch(/that of the first start/);
  },
);
