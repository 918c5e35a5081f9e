import { moneyOf, printable, remarks, table, time } from './table.js';
import { fieldOf } from './decode.js';
import type { Highlight } from './history.js';
import { type PendingCall, type FlowDetails, subscriptionFields } from './show.js';

/** Entries shown from the start and the end of the history; `--json` shows all. */
const FIRST = 5;
const LAST = 55;

/** A flow as text: fields, running calls, history, link. */
export function showText(flow: FlowDetails): string[] {
  const sections = [
    [`${flow.workflowId}  (${flow.type})`],
    table(fieldsOf(flow).map(([name, value]) => [`  ${name}`, value])),
    flow.pendingCalls.length === 0 ? [] : ['Under way', ...table(flow.pendingCalls.map(pendingLine))],
    ['What happened (UTC)', ...table(historyLines(flow.history))],
    flow.silence === undefined
      ? []
      : [`The flow itself did not answer, so this is what Temporal stores: ${flow.silence}.`],
    flow.uiUrl === undefined ? [] : [flow.uiUrl],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]))
    .map(printable);
}

function fieldsOf(flow: FlowDetails): [string, string][] {
  const { outcome } = flow;
  const all: [string, string | undefined][] = [
    ['reference', flow.reference],
    ['status', [flow.status ?? flow.execution, ...remarks(flow)].join(', ')],
    ['waiting for', flow.waitingFor ?? undefined],
    ['since', `${time(flow.since)} UTC`],
    ['due at', flow.dueAt === null ? undefined : `${time(flow.dueAt)} UTC`],
    ['operator', flow.operatorReason],
    ['cancel', flow.cancelRequested === true ? 'was asked for' : undefined],
    ['amount', moneyOf(flow)],
    ['payment', flow.paymentId],
    ['transaction', flow.transactionId ?? fieldOf(outcome, 'transactionId')],
    ...subscriptionFields(flow),
    ['business unit', flow.businessUnit],
    ['provider', flow.provider],
    ['category', fieldOf(outcome, 'category')],
    ['sub-category', fieldOf(outcome, 'subCategory') ?? flow.subCategory],
    ['reason', fieldOf(outcome, 'reason')],
    ...evidenceOf(outcome),
    ['ignored', countsOf(flow.ignored)],
    ['asked', flow.asked === 0 ? undefined : `${flow.asked} ${flow.asked === 1 ? 'time' : 'times'} for its outcome`],
    ['started', `${time(flow.startedAt)} UTC, run ${flow.runId}`],
    ['ended', flow.endedAt === undefined ? undefined : `${time(flow.endedAt)} UTC, ${flow.execution}`],
  ];
  return all.filter((field): field is [string, string] => field[1] !== undefined);
}

/** How the result is known, and which operator decided it, if any. */
function evidenceOf(outcome: unknown): [string, string | undefined][] {
  const evidence = partOf(outcome, 'evidence');
  if (evidence === undefined) return [];
  const operator = partOf(evidence, 'operator');
  const requestIds = partOf(evidence, 'requestIds');
  return [
    ['known by', [fieldOf(evidence, 'knownBy'), fieldOf(evidence, 'settledAt')].filter(Boolean).join(' at ')],
    ['decided by', operator && `${fieldOf(operator, 'who') ?? '?'}: ${fieldOf(operator, 'why') ?? '?'}`],
    ['proof', fieldOf(evidence, 'proof')],
    ['sends', fieldOf(evidence, 'attempts')],
    ['requests', Array.isArray(requestIds) && requestIds.length > 0 ? requestIds.map(String).join(' ') : undefined],
  ];
}

function partOf(value: unknown, name: string): object | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const part = (value as Record<string, unknown>)[name];
  return typeof part === 'object' && part !== null ? part : undefined;
}

function countsOf(counts: Record<string, number> | undefined): string | undefined {
  const parts = Object.entries(counts ?? {}).map(([reason, count]) => `${reason} ${count}`);
  return parts.length === 0 ? undefined : parts.join(', ');
}

function pendingLine({ name, attempt, nextAttemptAt, lastFailure }: PendingCall): string[] {
  const next = nextAttemptAt === undefined ? '' : `, next at ${time(nextAttemptAt)}`;
  return [`  ${name}`, `attempt ${attempt}${next}${lastFailure === undefined ? '' : `, last: ${lastFailure}`}`];
}

function historyLines(history: readonly Highlight[]): string[][] {
  const lines = history.map(({ at, kind, name, text, times, lastAt }) => [
    `  ${time(at)}`,
    kind,
    name,
    times === 1 ? text : `${text} (${times} times, the last at ${time(lastAt)})`,
  ]);
  if (lines.length <= FIRST + LAST) return lines;
  const left = lines.length - FIRST - LAST;
  return [...lines.slice(0, FIRST), [`  ... ${left} more: --json`], ...lines.slice(-LAST)];
}
