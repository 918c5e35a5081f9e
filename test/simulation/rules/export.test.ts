import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { expect, test, vi } from 'vitest';
import { exportRuns } from '../../../src/cli/export.js';
import type { ExportedRun } from '../../../src/cli/exported-run.js';
import { readHistory } from '../../../src/cli/history.js';
import { CARDS } from '../../support/charges.js';
import { testDataConverter } from '../../support/data-converter.js';
import { resetToFirstTask } from '../../support/resets.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { beginFlow, DAY, HOUR, inputOf, OPERATOR, SECOND, sharedTime } from './context.js';

const time = sharedTime();

/** Of what has ended in the last day. */
async function exported(until = Date.now() + 1) {
  const file = join(temporaryFolder(), 'export.jsonl');
  const client = time.simulation.client;
  const summary = await exportRuns(client, { file, since: new Date(until - DAY), until: new Date(until) });
  const text = readFileSync(file, 'utf8');
  const runs = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ExportedRun);
  return { file, summary, text, runs };
}

test('an export has each run that has ended: input, result with its evidence, and commands with who and why', async () => {
  const input = await inputOf(time, 'authorizeAndCapture', { captureMode: 'manual' });
  const hold = await beginFlow(time, 'authorizeAndCapture', input);
  await time.passUntil(hold.startedAt + SECOND);
  await hold.ask('capture', { commandId: 'take', ...OPERATOR });
  await hold.outcome();
  const open = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds }));
  const { runs, summary, file } = await exported();
  const run = runs.find(({ workflowId }) => workflowId === hold.workflowId);
  expect(run).toMatchObject({
    type: 'authorizeAndCapture',
    execution: 'COMPLETED',
    firstRunId: run?.runId,
    input: { reference: input.reference, amount: 6_000 },
    result: { status: 'captured', evidence: { knownBy: 'reply', requestIds: [expect.any(String)] } },
    commands: [{ name: 'capture', request: { commandId: 'take', ...OPERATOR }, answer: { status: 'succeeded' } }],
  });
  expect(runs.map(({ workflowId }) => workflowId)).not.toContain(open.workflowId);
  expect(summary).toMatchObject({ runs: runs.length, gone: [], undecoded: [] });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('an export has a flow that failed, one that was stopped, and each run of one that was reset, by the time of their end', async () => {
  const failed = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [
    { action: 'status', status: 400, path: '*/charges' },
  ]);
  await expect(failed.outcome()).rejects.toThrow();
  const pends = { card: CARDS.pendsThenSucceeds };
  const stopped = await beginFlow(time, 'charge', await inputOf(time, 'charge', pends));
  await time.passUntil(stopped.startedAt + SECOND);
  await time.client.workflow.getHandle(stopped.workflowId).terminate('by mistake');
  const reset = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await reset.outcome();
  await time.passUntil((await time.now()) + 2 * HOUR);
  const secondRun = await resetToFirstTask(time.client, reset.workflowId);
  await time.client.workflow.getHandle(reset.workflowId).result();
  const { runs } = await exported();
  const of = ({ workflowId }: { workflowId: string }) => runs.filter((run) => run.workflowId === workflowId);
  expect(of(failed)).toMatchObject([{ execution: 'FAILED', failure: expect.stringContaining('InvalidInput') }]);
  expect(of(stopped)).toMatchObject([
    { execution: 'TERMINATED', commands: [{ name: 'terminate', why: 'by mistake' }] },
  ]);
  const [first] = of(reset);
  expect(of(reset)).toMatchObject([
    { execution: 'COMPLETED', result: { status: 'succeeded' } },
    { runId: secondRun, firstRunId: first?.runId, commands: [{ name: 'reset' }], result: { status: 'succeeded' } },
  ]);
  expect(runs.map(({ closedAt }) => closedAt)).toEqual(runs.map(({ closedAt }) => closedAt).toSorted());
});

test('an export, and show, have of a run that was reset what it was told again, by whom and why, and no question', async () => {
  const input = await inputOf(time, 'authorizeAndCapture', { captureMode: 'manual' });
  const hold = await beginFlow(time, 'authorizeAndCapture', input);
  await time.passUntil(hold.startedAt + SECOND);
  await time.holdfast.authorize(input as Parameters<typeof time.holdfast.authorize>[0]);
  await hold.ask('capture', { commandId: 'take', ...OPERATOR });
  await hold.outcome();
  const runId = await resetToFirstTask(time.client, hold.workflowId);
  await time.client.workflow.getHandle(hold.workflowId).result();
  const run = (await exported()).runs.find((one) => one.runId === runId);
  const taken = { name: 'capture', id: expect.any(String), request: { commandId: 'take', ...OPERATOR } };
  expect(run?.commands).toMatchObject([{ name: 'reset' }, { ...taken, answer: { status: 'succeeded' } }]);
  const { asked, highlights } = await readHistory(time.client, { workflowId: hold.workflowId, runId });
  expect(asked).toBe(1);
  const given = highlights.filter(({ kind }) => kind === 'command').map(({ name, text }) => `${name} ${text}`);
  expect(given).toEqual([expect.stringMatching(/^capture given: who .*, why .*, commandId take$/), 'capture done']);
});

test('an export holds no CVV, and no line twice when the next one goes on from it', async () => {
  const input = await time.input({ cvv: '123' });
  const flow = await time.start(input);
  await flow.outcome();
  const border = Date.now() + 1;
  const before = await exported(border);
  expect(before.text).toContain(input.paymentMethod.token);
  expect(before.text).not.toContain(input.paymentMethod.encryptedCvv);
  await time.passUntil(border + HOUR);
  const file = join(temporaryFolder(), 'next.jsonl');
  const next = await exportRuns(time.client, { file, since: new Date(before.summary.until), until: new Date() });
  expect(next.runs).toBe(0);
});

test('an export overwrites no file, and leaves none behind when it fails', async () => {
  const file = join(temporaryFolder(), 'export.jsonl');
  writeFileSync(file, 'evidence\n');
  const range = { since: new Date(Date.now() - DAY), until: new Date() };
  await expect(exportRuns(time.client, { file, ...range })).rejects.toThrow('exists already');
  expect(readFileSync(file, 'utf8')).toBe('evidence\n');
  const other = `${file}.other`;
  await expect(exportRuns({ workflow: {} } as never, { file: other, ...range })).rejects.toThrow();
  expect(readdirSync(dirname(file))).toEqual(['export.jsonl']);
});

test('of two exports to one name at once one is there as a whole, and the other says so', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await flow.outcome();
  const file = join(temporaryFolder(), 'export.jsonl');
  const range = { since: new Date(flow.startedAt), until: new Date(Date.now() + 1) };
  const both = await Promise.allSettled([1, 2].map(async () => await exportRuns(time.client, { file, ...range })));
  const done = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value.sha256] : []));
  const refused = both.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  expect(done).toEqual([createHash('sha256').update(readFileSync(file)).digest('hex')]);
  expect(refused).toEqual([expect.stringContaining('exists already')]);
  expect(readdirSync(dirname(file))).toEqual(['export.jsonl']);
});

test('an export is whole where a write takes a part of what it is given', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await flow.outcome();
  const other = await open(join(temporaryFolder(), 'other'), 'w');
  const files = Object.getPrototypeOf(other) as typeof other;
  const write = Reflect.get(files, 'write') as (text: string) => Promise<never>;
  const halves = vi.spyOn(files, 'write').mockImplementation(async function (this: typeof other, text: unknown) {
    const whole = String(text);
    return await write.call(this, whole.slice(0, whole.length / 2));
  });
  const { file, summary, runs } = await exported().finally(() => halves.mockRestore());
  await other.close();
  expect(runs).toHaveLength(summary.runs);
  expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(summary.sha256);
});

test('an export names what Temporal no longer keeps, and what it can not decode', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await flow.outcome();
  const { client, engine } = time.simulation;
  const until = new Date(Date.now() + 1);
  const range = { since: new Date(flow.startedAt), until };
  const file = (): string => join(temporaryFolder(), 'export.jsonl');
  const { connection, namespace } = { connection: client.connection, ...client.options };
  const keyless = new Client({ connection, namespace, dataConverter: testDataConverter(`k9:${'A'.repeat(43)}=`) });
  const named = [expect.stringContaining(flow.workflowId)];
  expect(await exportRuns(keyless, { file: file(), ...range })).toMatchObject({ runs: 1, undecoded: named, gone: [] });

  const infos: WorkflowExecutionInfo[] = [];
  for await (const info of client.workflow.list({ query: `WorkflowId = "${flow.workflowId}"` })) infos.push(info);
  engine.forget(flow.workflowId);
  const workflow = Object.create(client.workflow, { list: { value: () => infos } }) as typeof client.workflow;
  const lagging = Object.create(client, { workflow: { value: workflow } }) as typeof client;
  expect(await exportRuns(lagging, { file: file(), ...range })).toMatchObject({ runs: 0, undecoded: [], gone: named });
});
