/**
 * Measures the time per character of the search for card data, by length and content of the text. The search is linear
 * where a row is constant (texts of 1 MB also wait for memory). The fastest of `--rounds <n>` (default 5) counts.
 */
import { performance } from 'node:perf_hooks';
import { holdsCardData } from '../../src/contract/card-data.js';
import { numbersOf } from './support/stats.js';

const LENGTHS = [1_000, 10_000, 100_000, 1_000_000];
/** Texts are made of one repeated part. None holds card data, so each text is searched to its end. */
const PARTS: Readonly<Record<string, string>> = {
  words: 'Two cups of green tea, please. ',
  'address lines': '12 High Street, 2nd floor, flat 7; ',
  digits: '7',
  'digits and blanks': '1 ',
  'pairs and tabs': '41\t',
  'fours and dashes': '4111-',
  'numbers of 27 digits': '411111111111111112271237777 ',
  digests: 'a1111111111111111111111111111111 ',
  'what begins like UUIDs': '79999999-9999-9999-9999-9999999999 ',
  'UUID dashes': '4-------',
  separators: ' -./',
  'escaped blanks': '1%20',
  'names of CVVs': 'cvv2_code\\"\' : ',
  soft: '4\u00ad1\u200b',
};

const { rounds } = numbersOf({ rounds: 5 });

function nsPerCharacter(text: string): number {
  let best = Infinity;
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    const repeats = Math.max(1, Math.floor(100_000 / text.length));
    for (let repeat = 0; repeat < repeats; repeat++) holdsCardData(text);
    best = Math.min(best, ((performance.now() - startedAt) * 1e6) / repeats / text.length);
  }
  return best;
}

const named = (length: number): string => (length < 1_000_000 ? `${length / 1_000} kB` : `${length / 1_000_000} MB`);
const row = (name: string, cells: readonly string[]): string =>
  `${name.padEnd(24)}${cells.map((cell) => cell.padStart(10)).join('')}`;

console.log(row('ns per character', LENGTHS.map(named)));
for (const [name, part] of Object.entries(PARTS)) {
  const texts = LENGTHS.map((length) => part.repeat(Math.ceil(length / part.length)).slice(0, length));
  // The first searches run code that is not compiled yet, so they are not measured.
  for (const text of texts.slice(0, 2)) nsPerCharacter(text);
  console.log(
    row(
      name,
      texts.map((text) => nsPerCharacter(text).toFixed(1)),
    ),
  );
}
