import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MONEY_TYPES } from '../../src/domain/reconcile/account.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';

const { CommandType } = proto.temporal.api.enums.v1;
const PAGES = ['configuration', 'disaster', 'production', 'subscriptions', 'webhooks'];
const FENCED = /^ *```[^]*?^ *```$/gm;
const COMMAND = /temporal workflow (?:list|count)[^'\n]*'([^'\n]+)'/g;
/** An attribute of a workflow, and what is asked of it. */
const IS_QUERY =
  /^(?:WorkflowType|TaskQueue|ExecutionStatus|PaymentStatus|NeedsOperator|StartTime|CloseTime) (?:[=<>!]|IN|NOT IN|IS|STARTS_WITH)/;

/** Queries as a page prints them: given to Temporal's command, or by themselves. */
function queriesOf(page: string): string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/${page}.md`, import.meta.url)), 'utf8');
  const given = [...text.matchAll(COMMAND)].map(([, query = '']) => query);
  const code = [...text.replaceAll(FENCED, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) =>
    span.replaceAll(/\s+/g, ' '),
  );
  return [...given, ...code].filter((query) => IS_QUERY.test(query));
}

let connection: Connection;
let client: Client;
beforeAll(async () => {
  connection = await Connection.connect({ address: await temporalAddress() });
  client = new Client({ connection, namespace: await claimNamespace() });
});
afterAll(async () => await connection?.close());

/** As somebody fills in what stands in angle brackets. */
const at = (query: string, time: Date): string => query.replaceAll(/<[^<>"]+>/g, time.toISOString());

test.each(PAGES)('the server takes every query that %s.md prints', async (page) => {
  const queries = queriesOf(page);
  expect(queries.length).toBeGreaterThan(0);
  for (const query of queries) {
    const { count } = await client.workflow.count(at(query, new Date(0)));
    expect({ query, count }).toEqual({ query, count: 0 });
  }
});

interface Shown {
  PaymentStatus?: string;
  WaitingFor?: string;
  NeedsOperator?: boolean;
}

/** A flow with what its first task would show; nobody works for its queue. */
async function begin(type: string, { PaymentStatus, WaitingFor, NeedsOperator }: Shown = {}) {
  const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
  const flag = defineSearchAttributeKey('NeedsOperator', SearchAttributeType.BOOL);
  return await client.workflow.start(type, {
    workflowId: `${type}-${randomUUID()}`,
    taskQueue: `holdfast-${randomUUID()}`,
    args: [],
    typedSearchAttributes: [
      ...(PaymentStatus === undefined ? [] : [{ key: keyword('PaymentStatus'), value: PaymentStatus }]),
      ...(WaitingFor === undefined ? [] : [{ key: keyword('WaitingFor'), value: WaitingFor }]),
      ...(NeedsOperator === undefined ? [] : [{ key: flag, value: NeedsOperator }]),
    ],
  });
}
type Begun = Awaited<ReturnType<typeof begin>>;

/** Answers its first task by hand: the run ends, or continues as new. */
async function end(flow: Begun, how: 'completes' | 'continues'): Promise<void> {
  const { workflowService, options } = client;
  const { raw, taskQueue, type } = await flow.describe();
  const { namespace } = options;
  const { taskToken } = await client.withDeadline(Date.now() + 30_000, () =>
    workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue }, identity: 'by hand' }),
  );
  const searchAttributes = raw.workflowExecutionInfo?.searchAttributes ?? null;
  const next = { workflowType: { name: type }, taskQueue: { name: taskQueue }, searchAttributes };
  const command =
    how === 'completes'
      ? {
          commandType: CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
          completeWorkflowExecutionCommandAttributes: {},
        }
      : {
          commandType: CommandType.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
          continueAsNewWorkflowExecutionCommandAttributes: next,
        };
  await workflowService.respondWorkflowTaskCompleted({
    namespace,
    taskToken,
    identity: 'by hand',
    commands: [command],
  });
}

/** What a query lists, once visibility has caught up, as it may be a moment behind. */
async function expectListed(query: string, wanted: readonly Begun[]): Promise<void> {
  const listed = async (): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
    return ids.toSorted();
  };
  const ids = wanted.map(({ workflowId }) => workflowId).toSorted();
  await until(listed, (found) => found.join() === ids.join()).catch(() => undefined);
  expect(await listed()).toEqual(ids);
}

const expectContinued = async (flow: Begun): Promise<void> =>
  await expectListed(`WorkflowId = "${flow.workflowId}" AND ExecutionStatus = "ContinuedAsNew"`, [flow]);

/** The only query of a page that has all of these. */
function queryWith(page: string, ...parts: string[]): string {
  const [query = '', ...others] = queriesOf(page).filter((one) => parts.every((part) => one.includes(part)));
  expect(others).toEqual([]);
  return query;
}

test('the variables of a restore stay set while a flow of before may still send, and no longer', async () => {
  const query = queryWith('disaster', 'ContinuedAsNew');
  expect([...query.matchAll(/"(\w+)"/g)].map(([, name]) => name)).toEqual(expect.arrayContaining([...MONEY_TYPES]));
  const charged = await begin('charge');
  const [ended, crossing] = [await begin('charge'), await begin('charge', { PaymentStatus: 'pending' })];
  const refunding = await begin('paymentActions', { PaymentStatus: 'refunding' });
  await begin('paymentActions', { PaymentStatus: 'idle' });
  for (const type of ['finding', 'parkedEvent', 'brakes', 'notifications', 'shipOrder']) await begin(type);
  await end(ended, 'completes');
  await sleep(1_000);
  const time = new Date();
  await sleep(1_000);
  await begin('charge', { PaymentStatus: 'pending' });
  await expectListed(at(query, time), [charged, crossing, refunding]);
  // Its present run begins after that time, and its flow before.
  await end(crossing, 'continues');
  await expectContinued(crossing);
  await expectListed(at(query, time), [charged, crossing, refunding]);
});

test('a page is for what is open, and a ticket is written once for what has ended', async () => {
  const page = queryWith('production', 'NeedsOperator = true', '"Paused"');
  const ticket = queryWith('production', 'NeedsOperator = true', '"Terminated"');
  const waiting = queryWith('production', '"started"');
  const before = new Date();
  const needy = { PaymentStatus: 'unknown', NeedsOperator: true };
  const [open, ended, goesOn] = [
    await begin('charge', needy),
    await begin('charge', needy),
    await begin('charge', needy),
  ];
  const [stopped, untaken] = [
    await begin('charge', { PaymentStatus: 'pending' }),
    await begin('charge', { PaymentStatus: 'started', WaitingFor: 'provider' }),
  ];
  await end(ended, 'completes');
  await end(goesOn, 'continues');
  await expectContinued(goesOn);
  await stopped.terminate();
  await expectListed(page, [open, goesOn]);
  await expectListed(at(ticket, before), [ended, stopped]);
  await expectListed(at(ticket, new Date()), []);
  await expectListed(at(waiting, before), []);
  await expectListed(at(waiting, new Date(Date.now() + 1_000)), [untaken]);
});
