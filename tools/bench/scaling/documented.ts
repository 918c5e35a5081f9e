import { readFileSync } from 'node:fs';

const DOCS = new URL(import.meta.url.endsWith('.ts') ? '../../../docs/' : '../../../../docs/', import.meta.url);

/** Cells of the table of a page in `docs` whose header has these columns, its header first. */
export function tableOf(page: string, ...columns: readonly string[]): string[][] {
  const lines = readFileSync(new URL(page, DOCS), 'utf8').split('\n');
  const cellsOf = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const begin = lines.findIndex((line) => columns.every((column) => cellsOf(line).includes(column)));
  if (begin < 0) throw new Error(`docs/${page} has no table with the columns ${columns.join(', ')}`);
  const length = lines.slice(begin).findIndex((line) => !line.startsWith('|'));
  const [header = '', , ...rows] = lines.slice(begin, begin + length);
  return [header, ...rows].map(cellsOf);
}

/** The number in that row and column of a table. */
export function numberIn(rows: readonly (readonly string[])[], row: string, column: string): number {
  const [header = []] = rows;
  const cell = rows.find(([name]) => name === row)?.[header.indexOf(column)];
  const number = Number(cell);
  if (cell === undefined || cell === '' || Number.isNaN(number))
    throw new Error(`the row "${row}" has no number in its column "${column}": ${cell}`);
  return number;
}

/** All numbers of a column. */
export function numbersIn([header = [], ...rows]: readonly (readonly string[])[], column: string): number[] {
  const place = header.indexOf(column);
  if (place < 0) throw new Error(`there is no column "${column}"`);
  return rows.map((row) => Number(row[place]));
}
