import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { isOpen } from '../client/is-open.js';
import { QUERY_NAMES, WORKFLOW_TYPES } from '../contract/names.js';
import type { FlowStatus } from '../contract/messages.js';
import { askFlow } from './find-flow.js';
import type { Engine } from './engine.js';
import { flowRow, goesOn, wasStopped, withStatus, type FlowRow } from './flow-row.js';
import { readHistory } from './history.js';
import { moneyOf, printable, time } from './table.js';

export interface Explanation extends FlowRow {
  /** Sentences for a person, one per line. */
  explanation: string[];
  /** Whether the flow answered; if not, `explanation` says what Temporal stores and why the flow did not answer. */
  answeredByFlow: boolean;
}

/** What a flow waits for and what is safe to do. The text comes from the flow if a worker answers. */
export async function explainFlow(
  { client }: Engine,
  flow: WorkflowExecutionDescription,
  now: Date,
  waitMs: number,
): Promise<Explanation> {
  const [said, status] = await Promise.all([
    askFlow<string>(client, flow, QUERY_NAMES.explain, waitMs),
    askFlow<FlowStatus>(client, flow, QUERY_NAMES.status, waitMs),
  ]);
  const stored = flowRow(flow, now);
  const row = 'answer' in status ? withStatus(stored, status.answer) : stored;
  const answeredByFlow = 'answer' in said;
  const words = answeredByFlow
    ? [printable(said.answer)]
    : [
        `This is what Temporal stores, because ${said.silence}.`,
        storedSentence(stored),
        ...(await stuckSentence(client, flow)),
      ];
  const explanation = wasStopped(stored)
    ? [
        stoppedSentence(stored, await endOf(client, flow)),
        `${answeredByFlow ? 'The last it knew: ' : ''}${words.join(' ')}`,
      ]
    : [...endedSentence(stored), ...words];
  return { ...row, explanation, answeredByFlow };
}

/** Why the workflow task of an open flow keeps failing, read from the history: such a flow answers no query. */
async function stuckSentence(client: Client, flow: WorkflowExecutionDescription): Promise<string[]> {
  const tries = flow.raw.pendingWorkflowTask?.attempt ?? 0;
  if (!isOpen(flow.status) || tries <= 1) return [];
  const { highlights } = await readHistory(client, flow);
  const why = highlights.findLast(({ kind }) => kind === 'fault')?.text ?? 'failed';
  const advice = /missing key/.test(why)
    ? ' Give every worker that key and this flow goes on; if the key is lost, see "A key is lacking" in docs/operator.md.'
    : '';
  return [printable(`Its workflow task is at try ${tries} and ${why}.${advice}`)];
}

async function endOf(client: Client, flow: WorkflowExecutionDescription): Promise<string> {
  const { highlights } = await readHistory(client, flow);
  return printable(highlights.at(-1)?.text ?? '');
}

function endedSentence(row: FlowRow): string[] {
  const { execution, since } = row;
  if (execution === 'paused')
    return [
      'This flow is paused in Temporal: nothing of it goes on until somebody lets it (temporal workflow unpause).',
    ];
  return goesOn(row) ? [] : [`This flow has ended (${execution}, ${time(since)} UTC).`];
}

function storedSentence(row: FlowRow): string {
  const what = [row.type, moneyOf(row)].filter(Boolean).join(' of ');
  const parts = [`${what}, ${row.reference}: ${row.status ?? row.execution}`];
  if (row.waitingFor !== null && row.waitingFor !== 'nothing') parts.push(`waits for ${row.waitingFor}`);
  if (row.dueAt !== null) parts.push(`due ${time(row.dueAt)} UTC${row.overdue ? ', which has passed' : ''}`);
  if (row.needsOperator) parts.push('needs an operator');
  const advice = goesOn(row) ? ' It goes on once a worker is there. Never repeat it under a new reference.' : '';
  return printable(`${parts.join(', ')} (${goesOn(row) ? 'open' : 'ended'} since ${time(row.since)} UTC).${advice}`);
}

function stoppedSentence({ since, execution, type, reference }: FlowRow, end: string): string {
  const how = [execution === 'timedOut' ? 'timed out' : execution, end].filter((text) => text !== '').join(' ');
  if (type === WORKFLOW_TYPES.subscription) {
    return (
      `This subscription was stopped from outside at ${time(since)} UTC (${how}), so nobody bills it any more. A payment ` +
      `that was under way is a flow of its own, payment-${printable(reference)}.<period>.<attempt>, and goes on: wait for its end ` +
      'before you start another subscription.'
    );
  }
  return (
    `This flow was stopped from outside at ${time(since)} UTC (${how}), so nobody follows its money any more: look the ` +
    'payment up at the payment service before you repeat anything.'
  );
}
