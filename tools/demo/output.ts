import { join, resolve } from 'node:path';
import { SECRET_FILES } from '../../src/config/index.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import type { DemoContext } from './context.js';
import { knownBy } from './demo-step.js';
import { wordsOf } from './endings.js';
import { cellOfMovements } from './movements.js';
import type { FlowReport } from './run-flow.js';
import type { FlowName } from './merchant.js';

const LINE_LENGTH = 100;

/** As a shell reads it back: a path may have spaces. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A flow as a block of lines: number and title, each step, the link. */
export function blockOf(number: number, report: FlowReport): string[] {
  const steps = report.steps.flatMap(({ at, text }) =>
    wrap(text).map((line, index) => `   ${index === 0 ? seconds(at) : ' '.repeat(7)}  ${line}`),
  );
  return [
    '',
    `${number}. ${report.title}`,
    ...steps,
    ...report.problems.map((problem) => `   PROBLEM  ${problem}`),
    `   ${report.link}`,
  ];
}

/** Wraps lines at 100 characters. A longer word gets its own line. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > LINE_LENGTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Formats as "  0.4 s", padded so that the steps align. */
function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(5)} s`;
}

/** One row per flow. */
export function tableOf(reports: readonly FlowReport[]): string[] {
  const head = ['reference', 'outcome', 'known by', 'in the ledger'];
  const rows = reports.map(({ reference, outcome, success, moved }) => [
    reference,
    outcome === undefined ? 'did not end' : wordsOf(outcome, success),
    (outcome && knownBy(outcome)) ?? '-',
    moved === undefined ? '?' : cellOfMovements(moved),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `   ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('   ')}`.trimEnd();
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}

/** Hints on where to look next. */
export function hintsOf(context: DemoContext, reports: readonly FlowReport[]): string[] {
  const { address, namespace, uiUrl, cliPath = 'temporal' } = context.temporal;
  const example = reports.at(-1);
  if (example === undefined) return [];
  const token = context.env['HOLDFAST_CODEC_TOKEN']
    ? '$HOLDFAST_CODEC_TOKEN'
    : `$(cat ${quoted(join(context.stateDir, SECRET_FILES.codecToken))})`;
  // `npx holdfast` looks for the stack in `.holdfast` below the current folder, so another state folder must be given.
  const elsewhere = context.stateDir === resolve('.holdfast') ? '' : `HOLDFAST_STATE_DIR=${quoted(context.stateDir)} `;
  const holdfast = `${elsewhere}npx holdfast`;
  const number = (wanted: FlowName): number => reports.findIndex(({ name }) => name === wanted) + 1;
  return [
    'Where to look next',
    `   Pay in the browser:       ${context.console.url}`,
    `   Temporal UI, every flow:  ${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows`,
    `   With most to see:         ${number('worker-killed')}, whose history holds the task that died, and ${number('webhook-lost')}, with its polls`,
    `   The ledger as JSON:       ${context.sandbox.url}/sandbox/ledger`,
    `   The operator's command:   ${holdfast} list`,
    `                             ${holdfast} explain ${example.reference}`,
    '   Ask a flow to explain itself: open its link, "Queries", "Run Query" (`explain` is chosen); or in a terminal:',
    `     ${quoted(cliPath)} workflow query --name explain --workflow-id ${paymentWorkflowId(example.reference)} \\`,
    `       --address ${address} --namespace ${quoted(namespace)} \\`,
    `       --codec-endpoint ${context.codec.url} --codec-auth "Bearer ${token}"`,
  ];
}
