import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { handOver } from '../client/hand-over.js';
import { NOTIFICATIONS_WORKFLOW, QUERY_NAMES } from '../contract/names.js';
import type { KeptNotification, SentNotifications } from '../contract/notifications.js';
import { isSealed, isUndecodable, NOT_FOR_THIS_FLOW, whyUndecodable } from '../contract/payload-marks.js';
import type { Engine } from './engine.js';
import { CommandError } from './errors.js';
import { askFlow } from './find-flow.js';
import type { NotificationRequest } from './notification-arguments.js';
import { asJson, asLines, printable, table, time } from './table.js';
import { isOpen, OPEN } from '../client/is-open.js';

interface Output {
  print: (text: string) => void;
  printError: (text: string) => void;
  waitMs?: number | undefined;
}

/** What a flow has told, and who has taken it. */
interface Told extends KeptNotification {
  workflowId: string;
  /** Its flow is under way. */
  isOpen: boolean;
}

/** ms. A flow of notifications answers at once. */
const WAIT_MS = 10_000;
const PAGE = 100;

/** Runs `notifications list`, `notifications resend` and `events export`. Resolves with the exit code. */
export async function runNotifications(engine: Engine, request: NotificationRequest, output: Output): Promise<number> {
  const told = await toldSince(engine.client, request.since, output);
  switch (request.command) {
    case 'notifications list':
      return list(engine, request, told, output);
    case 'notifications resend':
      return await resend(engine, request, told, output);
    case 'events export':
      for (const { deliveries: _deliveries, url: _url, isOpen: _isOpen, ...one } of told.found)
        output.print(`${JSON.stringify(one)}\n`);
      return told.silent ? 1 : 0;
  }
}

interface Found {
  /** By the time at which they happened. */
  found: Told[];
  /** A flow did not answer, so that some may be missing. */
  silent: boolean;
}

/** Every notification of what happened at `since` or later, each once, as the latest run that knows it says. */
async function toldSince(client: Client, since: Date, { printError, waitMs = WAIT_MS }: Output): Promise<Found> {
  const found = new Map<string, { at: Date; told: Told }>();
  let silent = false;
  const closed = `CloseTime >= "${since.toISOString()}"`;
  const query = `WorkflowType = '${NOTIFICATIONS_WORKFLOW}' AND ExecutionStatus != "ContinuedAsNew" AND (${OPEN} OR ${closed})`;
  for await (const flow of client.workflow.list({ query, pageSize: PAGE })) {
    const { workflowId, startTime, status } = flow;
    const said = await sentBy(client, flow, waitMs);
    if ('silence' in said) {
      silent = true;
      printError(`${printable(workflowId)}: ${said.silence}\n`);
      continue;
    }
    const sent = said.answer;
    if (!isSealed(sent)) {
      silent = true;
      printError(`${printable(workflowId)}: what it has told ${NOT_FOR_THIS_FLOW}, and none of our flows does that.\n`);
      continue;
    }
    if (isUndecodable(sent)) {
      silent = true;
      printError(`${printable(workflowId)}: what it has told can't be decoded (${whyUndecodable(sent)}).\n`);
      continue;
    }
    for (const notification of sent.notifications) {
      if (notification.at < since.toISOString()) continue;
      const known = found.get(notification.id);
      if (known === undefined || known.at < startTime)
        found.set(notification.id, {
          at: startTime,
          told: { ...notification, workflowId: sent.workflowId, isOpen: isOpen(status) },
        });
    }
  }
  const all = [...found.values()].map(({ told }) => told);
  return { found: all.sort((one, other) => (one.at < other.at ? -1 : 1)), silent };
}

/** A flow that has completed returned what it would answer, so that no worker is needed. */
async function sentBy(client: Client, { workflowId, runId, status }: WorkflowExecutionInfo, waitMs: number) {
  if (status.name !== 'COMPLETED')
    return await askFlow<SentNotifications>(client, { workflowId, runId }, QUERY_NAMES.notifications, waitMs);
  return await client.workflow
    .getHandle(workflowId, runId)
    .result()
    .then(
      (answer) => ({ answer: answer as SentNotifications }),
      (error: unknown) => ({ silence: messageOf(error) }),
    );
}

const HEAD = ['NOTIFICATION', 'TYPE', 'HAPPENED (UTC)', 'FLOW', 'ENDPOINT', 'STATUS', 'WHY'];

function list(
  { namespace, address }: Engine,
  { json, all }: Extract<NotificationRequest, { command: 'notifications list' }>,
  { found, silent }: Found,
  { print, printError }: Output,
): number {
  const open = found.filter((told) => all || !isTaken(told));
  if (json) print(asJson(open));
  else if (open.length > 0) print(asLines(table([HEAD, ...open.flatMap(rowsOf)])));
  else printError(`Nothing waits or was given up in namespace "${namespace}" at ${address}.\n`);
  return silent ? 1 : 0;
}

function isTaken({ deliveries }: Told): boolean {
  return deliveries !== undefined && deliveries.every(({ status }) => status === 'delivered');
}

function rowsOf({ id, type, at, workflowId, deliveries }: Told): string[][] {
  const shown = deliveries ?? [{ url: '-', status: 'waiting', why: 'its endpoints are not known yet' }];
  return shown.map(({ url, status, why }) =>
    [id, type, time(at), workflowId, url, status, why ?? ''].map((cell) => printable(cell)),
  );
}

/** Sends again to every endpoint: those that have it know it by its id. */
async function resend(
  { client }: Engine,
  { ids, json }: Extract<NotificationRequest, { command: 'notifications resend' }>,
  { found, silent }: Found,
  { print, printError }: Output,
): Promise<number> {
  const unknown = ids.filter((id) => !found.some((told) => told.id === id));
  if (unknown.length > 0)
    throw new CommandError(
      `Nothing was sent: there is no notification ${unknown.map((id) => printable(id)).join(', ')} since then; look with npx holdfast notifications list --all, and --since for what is older than 30 days`,
    );
  const asked = found.filter((told) => (ids.length > 0 ? ids.includes(told.id) : isGivenUp(told)));
  const chosen = asked.filter((told) => !isUnderWay(told));
  for (const { workflowId, businessUnit, url, deliveries: _deliveries, isOpen: _isOpen, ...notification } of chosen) {
    const address = url === undefined ? {} : { url };
    await handOver(client, { workflowId, businessUnit, ...address, notifications: [notification], again: true });
  }
  if (json) print(asJson(chosen.map(({ id }) => id)));
  else print(asLines([`${chosen.length} sent again`, ...chosen.map(({ id, type }) => `${id}  ${type}`)]));
  const underWay = asked.filter((told) => isUnderWay(told));
  for (const { id } of underWay) printError(`${id} was not sent again: it is still being tried.\n`);
  return silent || underWay.length > 0 ? 1 : 0;
}

/** It has not come to an endpoint that waits, and none was given up: its flow goes on trying, and would ignore this. */
function isUnderWay({ deliveries, isOpen: goesOn }: Told): boolean {
  const has = (status: string): boolean => deliveries?.some((one) => one.status === status) === true;
  return goesOn && (deliveries === undefined || (has('waiting') && !has('givenUp')));
}

/** By its flow, or with it, when somebody has ended that. */
function isGivenUp(told: Told): boolean {
  return told.deliveries?.some(({ status }) => status === 'givenUp') === true || (!told.isOpen && !isTaken(told));
}
