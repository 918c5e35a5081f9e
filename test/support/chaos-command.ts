import { join } from 'node:path';
import { root, startScript, type Running } from '../tools/support.js';
import { temporalCliPath } from './temporal.js';

/** What the command says last when every promise held. */
export const ALL_IS_WELL = 'No money moved twice, nothing is unknown, no hold is left.';

/** Starts `npm run chaos` as a user does, with all that it writes below `folder`. */
export function startChaos(args: readonly string[], folder: string): Running {
  const env = { ...process.env, TMPDIR: folder, TEMPORAL_CLI_PATH: temporalCliPath() };
  return startScript([join(root, 'tools', 'chaos.mjs'), ...args], env);
}

/** The last part of the summary: one line, or all that is wrong. */
export function verdictOf(output: string): string {
  return output.trimEnd().split('\n\n').at(-1) ?? '';
}

/** The numbers of a summary by their labels. An unknown label is a fault of the test. */
export function numbersOf(output: string): (label: string) => number {
  const rows = [...output.matchAll(/^ *(\S.*?) {2,}(\d+)(?: {3}.*)?$/gm)];
  const numbers = new Map(rows.map(([, label, number]) => [label, Number(number)]));
  return (label) => {
    const number = numbers.get(label);
    if (number === undefined) throw new Error(`The summary has no number for "${label}":\n${output}`);
    return number;
  };
}

/** What the note of a line counts, as in "succeeded 20, declined 4". */
export function countsOf(output: string, label: string): Readonly<Record<string, number>> {
  const line = output.split('\n').find((text) => text.trim().startsWith(`${label}  `));
  if (line === undefined) throw new Error(`The summary has no line for "${label}":\n${output}`);
  const note = /\d+ {3}(.*)$/.exec(line)?.[1] ?? '';
  return Object.fromEntries(
    [...note.matchAll(/([^,]+) (\d+)(?:, |$)/g)].map(([, word, count]) => [word, Number(count)]),
  );
}
