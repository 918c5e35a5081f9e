import { appendFileSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../../../src/cli/engine.js';
import { redrive, type RedriveRequest } from '../../../src/cli/redrive.js';
import type { ReportEntry } from '../../../src/cli/line-report.js';
import { atFullCounts } from '../../support/at-full-counts.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { beginFlow, DONE, FLOW_TYPES, HOUR, inputOf, MINUTE, sharedTime } from './context.js';
import { fileOf, restore, statementFile, taken } from './restored.js';

const time = sharedTime({ billing: true });

/** As the command runs it. */
async function run(file: string, more: Partial<RedriveRequest> = {}) {
  let out = '';
  let err = '';
  const engine = { client: time.client } as Engine;
  const request = { command: 'redrive', json: true, file, rate: 1_000, ...more } as const;
  const code = await redrive(engine, request, { print: (text) => (out += text), printError: (text) => (err += text) });
  const entries = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ReportEntry);
  return { code, err, entries: entries.toSorted((one, other) => one.line - other.line) };
}
const refusal = async (...given: Parameters<typeof run>): Promise<string> =>
  await run(...given).then(
    () => 'was not refused',
    (error: Error) => error.message,
  );
const order = (...lines: [workflowType: string, input: object][]): string =>
  fileOf(lines.map(([workflowType, input]) => ({ workflowType, input })));

/** A state of the engine before these flows, which have all ended now. */
async function lostFlows(...flows: Parameters<typeof beginFlow>[1][]) {
  const state = taken(time);
  const lines: [string, Awaited<ReturnType<typeof inputOf>>][] = [];
  for (const type of flows) {
    const input = await inputOf(time, type);
    await (await beginFlow(time, type, input)).outcome();
    lines.push([type, input]);
  }
  return { state, lines };
}

describe('redrive', () => {
  atFullCounts('asks again for every flow that the file names, once, and moves nothing twice', async () => {
    const { state, lines } = await lostFlows(...FLOW_TYPES);
    await time.passUntil(Date.now() + MINUTE);
    await restore(time, state);
    const file = order(...lines);
    const first = await run(file);
    expect(first.code).toBe(0);
    expect(first.entries.map(({ reference, result }) => [reference, result])).toEqual(
      lines.map(([, { reference }]) => [reference, 'outcome']),
    );
    for (const [index, type] of FLOW_TYPES.entries())
      expect(await movements(time, lines[index]?.[1].reference ?? '')).toEqual(DONE[type]);

    // What was killed in the midst of writing is asked for again, all else is done.
    const path = `${file}.report.jsonl`;
    const [kept = '', cut = ''] = readFileSync(path, 'utf8').split('\n');
    const more = await run(file, { report: fileOf([JSON.parse(kept) as object]) });
    expect(more.entries).toHaveLength(FLOW_TYPES.length - 1);
    appendFileSync(path, cut.slice(0, 20));
    const again = await run(file);
    expect(again).toMatchObject({
      code: 0,
      entries: [],
      err: expect.stringContaining('5 were done before, 0 are done'),
    });
    expect(JSON.stringify(first.entries)).not.toContain('token');
  });

  test('asks again after a second restore for what it had done before that', async () => {
    const { state, lines } = await lostFlows('charge');
    const file = order(...lines);
    await restore(time, state);
    const second = taken(time);
    expect(await run(file)).toMatchObject({ code: 0, entries: [{ result: 'outcome' }] });
    await time.passUntil(Date.now() + MINUTE);
    await restore(time, { ...second, at: state.at });
    expect(await run(file)).toMatchObject({ code: 0, entries: [{ result: 'outcome' }] });
    expect(await movements(time, lines[0]?.[1].reference ?? '')).toEqual(DONE.charge);
    expect(await run(file)).toMatchObject({ code: 0, entries: [] });
  });

  test('sends nothing while any line of the file is at fault, and says every fault', async () => {
    const { reference: _none, ...nameless } = await inputOf(time, 'charge');
    const input = await inputOf(time, 'charge');
    const file = order(['charge', nameless], ['charge', { ...input, amount: 0 }], ['refund', input], ['charge', input]);
    appendFileSync(file, `not json\n{"input":{}}\n{"workflowType":"charge","input":{},"more":1}\n[]\n`);
    appendFileSync(file, `${JSON.stringify({ workflowType: 'credit', input })}\n`);
    const said = await refusal(file);
    expect(said.split('\n')).toEqual([
      expect.stringMatching(/^Nothing was sent\. .*has faults:$/),
      expect.stringContaining('line 1: reference: '),
      expect.stringContaining('line 2: amount: '),
      expect.stringContaining('line 3: workflowType "refund" can\'t be asked for again: use one of charge, '),
      '- line 5: is no JSON',
      expect.stringContaining('line 6: workflowType a missing value'),
      '- line 7: must be {"workflowType":"charge","input":{...}}',
      '- line 8: must be {"workflowType":"charge","input":{...}}',
      expect.stringContaining(`line 9: "${input.reference}" stands in line 4 already`),
    ]);
    expect(time.requests.posts(input.reference)).toEqual([]);
    expect(await refusal('/nowhere/order')).toContain('ENOENT');
    expect(await refusal(fileOf([]))).toContain('the file is empty');
    expect(await refusal(file, { report: file })).toContain('has faults');
  });

  test('refuses a report that is none', async () => {
    await restore(time, taken(time));
    const file = order(['charge', await inputOf(time, 'charge')]);
    expect(await refusal(file, { report: file })).toContain('line 1, is no report: name another file');
  });

  test('sends nothing before every worker is told of the same restore', async () => {
    const file = order(['charge', await inputOf(time, 'charge')]);
    for (const worker of time.simulation.workers) worker.kill();
    expect(await refusal(file)).toContain(
      'no worker polls queue "holdfast"; start every worker with HOLDFAST_RESTORED_TO',
    );
    await restore(time, taken(time));
    time.simulation.startWorker();
    expect(await refusal(file)).toMatch(/worker worker \d+ of queue "holdfast" is not told of a restore/);
    await restore(time, taken(time));
    time.simulation.startWorker({ env: { HOLDFAST_RESTORED_TO: '2026-01-01T00:00:00Z,2026-01-01T01:00:00Z' } });
    expect(await refusal(file)).toContain('told of different lost times (');
  });

  test('from 20 h after the backup sends only what the statement shows nothing of', async () => {
    const { state, lines } = await lostFlows('charge');
    const declines = await inputOf(time, 'charge', { card: CARDS.declines });
    expect(await (await beginFlow(time, 'charge', declines)).outcome()).toMatchObject({ status: 'declined' });
    await restore(time, state, { downFor: 20 * HOUR });
    const fresh = await inputOf(time, 'charge');
    const file = order(...lines, ['charge', declines], ['charge', fresh]);
    expect(await refusal(file)).toMatch(/^Nothing was sent: since .*Give its statement of that time by --statement/);

    const statement = await statementFile(time);
    const { code, entries } = await run(file, { statement });
    expect(code).toBe(0);
    expect(entries.map(({ result }) => result)).toEqual(['hasMoney', 'declined', 'outcome']);
    // What the statement has told is looked up again: nothing is sent for it.
    expect((await run(file, { statement })).entries.map(({ result }) => result)).toEqual(['hasMoney', 'declined']);
    expect(entries[0]).toMatchObject({ transactions: [{ kind: 'charge', status: 'Succeed', amount: 6_000 }] });
    expect(await movements(time, lines[0]?.[1].reference ?? '')).toEqual(DONE.charge);
    expect(await movements(time, declines.reference)).toEqual(['charge Failed 6000 USD']);
    expect(await movements(time, fresh.reference)).toEqual(DONE.charge);
    expect(
      await refusal(file, { statement: fileOf([{ covers: '2026-01-01T00:00:00Z,2026-01-02T00:00:00Z' }]) }),
    ).toContain('it covers 2026-01-01T00:00:00.000Z,2026-01-02T00:00:00.000Z, and must cover ');
  });

  atFullCounts('stops asking when that time comes, and says what is left', async () => {
    const { state, lines } = await lostFlows('charge', 'credit');
    await restore(time, state, { downFor: 20 * HOUR - 10 * MINUTE });
    const { code, entries, err } = await run(order(...lines), { rate: 1 / 1_800 });
    expect({ code, results: entries.map(({ result }) => result) }).toEqual({ code: 1, results: ['outcome'] });
    expect(err).toContain('1 lines were not asked for: since ');
    expect(await movements(time, lines[0]?.[1].reference ?? '')).toEqual(DONE.charge);
  });

  atFullCounts('says what is not known yet, and what was refused, and asks for both again', async () => {
    const input = await inputOf(time, 'charge');
    await restore(time, taken(time));
    await time.sandbox.addFault({ action: 'status', status: 503, method: 'POST', path: '/payments', times: 8 });
    const file = order(['charge', input]);
    const first = await run(file);
    expect(first).toMatchObject({ code: 1, entries: [{ result: 'outcome', outcome: { status: 'unknown' } }] });
    await time.passUntil(Date.now() + HOUR);
    expect(await run(file)).toMatchObject({ code: 0, entries: [{ outcome: { status: 'succeeded' } }] });
    const other = order(['charge', { ...input, amount: 7_000 }]);
    for (let times = 0; times < 2; times += 1)
      expect(await run(other)).toMatchObject({ code: 1, entries: [{ result: 'refused', type: 'ReferenceConflict' }] });
    expect(await movements(time, input.reference)).toEqual(DONE.charge);
  });
});
