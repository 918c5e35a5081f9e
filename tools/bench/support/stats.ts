import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/** The middle value, or the lower middle of an even count. NaN for an empty list. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const index = Math.max(0, Math.ceil((p / 100) * sorted.length) - 1);
  return sorted[index] ?? Number.NaN;
}

/** Runs `count` jobs, `concurrency` at a time. Returns the ms of each. */
export async function runJobs(
  count: number,
  concurrency: number,
  job: (index: number) => Promise<void>,
): Promise<number[]> {
  const took: number[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const begun = performance.now();
      await job(index);
      took.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return took;
}

/** The middle and the slowest hundredth of what was measured in ms. */
export interface Percentiles {
  p50: number;
  p99: number;
}

export function percentilesOf(took: readonly number[]): Percentiles {
  return { p50: percentile(took, 50), p99: percentile(took, 99) };
}

/**
 * Starts jobs at a fixed rate, without waiting for earlier ones, as long as `goesOn`. Returns the ms of each from when
 * it was due.
 */
export async function runAtRate(
  perSecond: number,
  goesOn: (index: number) => boolean,
  job: (index: number) => Promise<void>,
): Promise<number[]> {
  const took: number[] = [];
  const underWay: Promise<void>[] = [];
  const begun = performance.now();
  for (let index = 0; goesOn(index); index += 1) {
    const due = begun + (index * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    underWay.push(job(index).then(() => void took.push(performance.now() - due)));
  }
  await Promise.all(underWay);
  return took;
}

/** Formats a table. The first column is aligned left, the others right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    )
    .join('\n');
}

/** Parses whole positive numbers from the command line, by the given names and defaults. */
export function numbersOf<Name extends string>(defaults: Readonly<Record<Name, number>>): Record<Name, number> {
  const names = Object.keys(defaults) as Name[];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({ options });
  const faults: string[] = [];
  const numbers = names.map((name) => {
    const given = values[name];
    const number = given === undefined ? defaults[name] : Number(given);
    if (!Number.isSafeInteger(number) || number < 1)
      faults.push(`--${name} ${String(given)} is not a whole number from 1`);
    return [name, number] as const;
  });
  if (faults.length > 0) {
    console.error(faults.join('\n'));
    process.exit(1);
  }
  return Object.fromEntries(numbers) as Record<Name, number>;
}
