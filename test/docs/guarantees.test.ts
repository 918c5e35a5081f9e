import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';

const ROOT = new URL('../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/guarantees.md', ROOT), 'utf8');
const isTest = (file: string): boolean => file.endsWith('.test.ts');

function namedIn(text: string): string[] {
  return [...text.matchAll(/`(test\/[^`\s]+)`/g)].flatMap(([, file]) => file ?? []).filter(isTest);
}

/** The parts of a page under headings of one level, by heading. */
function sections(text: string, level: '##' | '###'): [string, string][] {
  const parts = text.split(new RegExp(`^${level} `, 'm')).slice(1);
  return parts.map((part) => [part.slice(0, part.indexOf('\n')), part]);
}

const chapters = new Map(sections(PAGE, '##'));

describe('the page on guarantees', () => {
  test('names no test that does not exist', () => {
    expect(namedIn(PAGE).filter((file) => !existsSync(new URL(file, ROOT)))).toEqual([]);
  });

  test('leaves out no test of a guarantee', () => {
    const files = readdirSync(new URL('test/guarantees', ROOT)).filter(isTest);
    const named = new Set(namedIn(PAGE));
    expect(files.map((file) => `test/guarantees/${file}`).filter((file) => !named.has(file))).toEqual([]);
  });

  test('says of each promise how far it goes and which test shows it', () => {
    const promises = sections(chapters.get('The promises') ?? '', '###');
    expect(promises.length).toBeGreaterThanOrEqual(8);
    const lacking = promises.filter(([, text]) => !/^Limits?:/m.test(text) || namedIn(text).length === 0);
    expect(lacking.map(([name]) => name)).toEqual([]);
  });

  describe('has a table of every promise in every flow', () => {
    const lines = [...(chapters.get('Every promise in every flow') ?? '').matchAll(/^\| (.*) \|$/gm)];
    const [header = [], , ...rows] = lines.map(([, line = '']) => line.split(' | ').map((cell) => cell.trim()));

    test('with a column for each flow, and a row for each promise', () => {
      const notMoney = ['listCards', 'removeCard'];
      const flows = Object.values(WORKFLOW_TYPES).filter((type) => !notMoney.includes(type));
      expect(header.slice(1).toSorted()).toEqual(flows.map((type) => `\`${type}\``).toSorted());
      const promises = sections(chapters.get('The promises') ?? '', '###').map(([name]) => name);
      expect(rows.map(([name]) => name)).toEqual(promises);
    });

    test('whose cells name a test that is there, or say why there is none', () => {
      const empty = rows.flatMap(([name, ...cells]) =>
        cells.flatMap((cell, at) => {
          const shown = namedIn(cell).some((file) => existsSync(new URL(file, ROOT)));
          return shown || /^– \(\S.+\)$/.test(cell) ? [] : [`${name}, ${header[at + 1]}: ${cell}`];
        }),
      );
      expect(empty).toEqual([]);
      expect(rows.map((cells) => cells.length)).toEqual(rows.map(() => header.length));
    });
  });

  test('says of each of the ten money rules which test shows it', () => {
    const rows = (chapters.get('The money rules') ?? '').matchAll(/^\| (\d+) +\|.*$/gm);
    const shown = [...rows].map(([row, rule]) => [Number(rule), namedIn(row).length > 0]);
    expect(shown).toEqual(Array.from({ length: 10 }, (_, index) => [index + 1, true]));
  });
});
