import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../../../src/cli/engine.js';
import { importSubscriptions, type ImportRequest } from '../../../src/cli/import-subscriptions.js';
import type { ReportEntry } from '../../../src/cli/line-report.js';
import type { SubscriptionInput } from '../../../src/contract/subscription.js';
import { bills, later, localDay, monthly, ROME } from '../../support/subscriptions.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { DAY, sharedTime } from './context.js';
import { fileOf } from './restored.js';

const time = sharedTime({ billing: true });

/** As the command runs it. */
async function run(file: string, more: Partial<ImportRequest> = {}, address = 'temporal.example:7233') {
  let out = '';
  let err = '';
  const engine = { client: time.client, address, namespace: 'shop' } as Engine;
  const request = { command: 'subscriptions import', json: true, file, rate: 1_000, ...more } as const;
  const output = { print: (text: string) => (out += text), printError: (text: string) => (err += text) };
  const code = await importSubscriptions(engine, request, output);
  const lines = out.split('\n').filter(Boolean);
  const entries = request.json ? lines.map((line) => JSON.parse(line) as ReportEntry) : [];
  return { code, err, lines, entries: entries.toSorted((one, other) => one.line - other.line) };
}
const refusal = async (...given: Parameters<typeof run>): Promise<string> =>
  await run(...given).then(
    () => 'was not refused',
    (error: Error) => error.message,
  );

/** One of another system, weekly: its fifth period begins the day after tomorrow. */
async function subscriber(overrides: Partial<SubscriptionInput> = {}): Promise<SubscriptionInput> {
  const weekly = { interval: { every: 1, unit: 'week' }, billedThrough: 4 } as const;
  return await monthly(time, { ...weekly, anchor: localDay((await time.now()) - 26 * DAY, ROME), ...overrides });
}
async function end(...inputs: readonly SubscriptionInput[]): Promise<void> {
  for (const { reference } of inputs) await time.holdfast.subscription.cancel(reference, { when: 'now' });
}
/** How many subscriptions there are, whatever number of runs each has had. */
function started(): number {
  const ids = [...time.simulation.engine.all()].map(({ start }) => start.workflowId);
  return new Set(ids.filter((id) => id.startsWith('subscription-'))).size;
}

describe('an import of subscriptions', () => {
  test('starts each line once, reports it, and bills each from its own next period on', async () => {
    const inputs = [await subscriber(), await subscriber({ billedThrough: 5 })];
    const before = started();
    const file = fileOf(inputs);
    const first = await run(file);
    expect(first).toMatchObject({ code: 0, err: expect.stringContaining('2 lines: 0 were done before, 2 are done') });
    expect(first.entries.map(({ line, reference }) => [line, reference])).toEqual(
      inputs.map(({ reference }, index) => [index + 1, reference]),
    );
    const [one] = first.entries;
    const { anchor = '' } = inputs[0] ?? {};
    expect(one).toMatchObject({
      result: 'outcome',
      outcome: { status: 'active', billedThrough: 4, nextBill: { period: 5, date: later(anchor, 28) } },
    });
    const report = readFileSync(`${file}.report.jsonl`, 'utf8');
    expect(report.split('\n').filter(Boolean)).toHaveLength(2);
    expect(report).not.toContain(inputs[0]?.token);

    expect(await run(file)).toMatchObject({ code: 0, entries: [], err: expect.stringContaining('2 were done before') });
    // A report of a rehearsal, by another Temporal, says nothing of this one.
    expect((await run(file, {}, 'temporal.live.example:7233')).entries).toHaveLength(2);
    expect(started()).toBe(before + 2);
    await time.passUntil((await time.now()) + 10 * DAY);
    const tried = await Promise.all(inputs.map(async ({ reference }) => await bills(time, reference)));
    expect(tried.map((lines) => lines.map((line) => line.slice(0, 3)))).toEqual([['5.1', '6.1'], ['6.1']]);
    await end(...inputs);
  });

  test('starts all again in a namespace that was made again under its name: the report is of the one before', async () => {
    const inputs = [await subscriber()];
    const file = fileOf(inputs);
    await run(file);
    time.simulation.engine.namespaceId = 'made-again';
    expect((await run(file)).entries).toHaveLength(1);
    expect((await run(file)).err).toContain('1 were done before');
    await end(...inputs);
  });

  test('starts nothing where its report can not be written', async () => {
    const file = fileOf([await subscriber()]);
    const before = started();
    const report = join(temporaryFolder(), 'none', 'report.jsonl');
    expect(await refusal(file, { report })).toMatch(
      /^Nothing was asked: .* \(ENOENT\)\. Name another file by --report$/,
    );
    expect(started()).toBe(before);
  });

  test('goes on after it was killed, between a start and its report too, on a day on which that is too late', async () => {
    const inputs = [await subscriber(), await subscriber(), await subscriber({ billedThrough: 8 })];
    const before = started();
    const file = fileOf(inputs);
    // Killed: the first is reported, the second was started and its report is cut short, the third was not begun.
    const path = `${file}.report.jsonl`;
    const { entries } = await run(fileOf(inputs.slice(0, 2)), { report: path });
    const [kept = '', cut = ''] = readFileSync(path, 'utf8').split('\n');
    expect(entries).toHaveLength(2);
    await time.passUntil((await time.now()) + 5 * DAY);
    const left = fileOf([JSON.parse(kept) as object]);
    appendFileSync(left, cut.slice(0, 30));
    const again = await run(file, { report: left });
    const [second, third] = [JSON.parse(kept) as ReportEntry, JSON.parse(cut) as ReportEntry].map(({ line }) => line);
    expect(again.code).toBe(0);
    expect(again.entries.map(({ line }) => line)).toEqual([third, 3]);
    expect(second).not.toBe(third);
    expect(started()).toBe(before + 3);
    for (const { reference } of inputs.slice(0, 2)) expect(await bills(time, reference)).toHaveLength(1);
    await end(...inputs);
  });

  test('starts nothing while any line is at fault, and says every fault of every line', async () => {
    const good = await subscriber();
    const before = started();
    const file = fileOf([
      good,
      { ...good, reference: 'club 7', amount: 9.99 },
      { ...good, billedThrough: 1 },
      { ...good, reference: `${good.reference}-4`, billedThrough: '2001-01-01', periods: 0 },
      ['subscription', good],
    ]);
    appendFileSync(file, '{"reference":\n\n');
    appendFileSync(file, `${JSON.stringify({ ...good, currency: 'eur' })}\n`);
    const said = (await refusal(file)).split('\n');
    expect(said).toEqual([
      expect.stringMatching(/^Nothing was started\. .*has faults:$/),
      expect.stringContaining('line 2: reference: '),
      expect.stringContaining('line 2: amount: '),
      `- line 3: "${good.reference}" stands in line 1 already`,
      expect.stringContaining('line 3: billedThrough: period 2, the first one to bill, began in the past'),
      expect.stringContaining('line 4: periods: '),
      expect.stringContaining('line 4: billedThrough: 2001-01-01 is before the first period'),
      expect.stringContaining('line 5: input: '),
      '- line 6: is no JSON',
      expect.stringContaining('line 8: currency: '),
      `- line 8: "${good.reference}" stands in line 1 already`,
    ]);
    expect(started()).toBe(before);
    const oneOfTwo = fileOf([good, { ...good, reference: `${good.reference}-2`, currency: 'eur' }]);
    expect(await refusal(oneOfTwo)).toContain('line 2: currency: ');
    expect(started()).toBe(before);
    expect(await refusal(fileOf([]))).toContain('the file is empty');
    expect(await refusal('/nowhere/subscriptions')).toContain('ENOENT');
    const only = fileOf([good]);
    expect(await refusal(only, { report: only })).toContain('line 1, is no report: name another file');
    expect(started()).toBe(before);
  });

  test('says what was refused, goes on with the others, and asks for it again', async () => {
    const [known, unknown] = [await subscriber(), await subscriber({ customerId: NOBODY })];
    const file = fileOf([unknown, known]);
    const first = await run(file);
    expect(first.code).toBe(1);
    expect(first.entries).toMatchObject([
      { result: 'refused', type: 'InvalidInput', message: expect.stringContaining('customerId: ') },
      { result: 'outcome', outcome: { status: 'active' } },
    ]);
    expect(await run(file)).toMatchObject({ code: 1, entries: [{ line: 1, result: 'refused' }] });
    // Mended, and under a reference of its own.
    const mended = {
      ...unknown,
      customerId: known.customerId,
      token: known.token,
      reference: `${unknown.reference}-2`,
    };
    const report = `${file}.report.jsonl`;
    const { code, lines } = await run(fileOf([mended, known]), { report, json: false });
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [`line 1  ${mended.reference}  active  next: period 5 on ${later(mended.anchor, 28)}`],
    });
    await end(mended, known);
  });

  test('never changes what runs: another input under a reference is refused', async () => {
    const input = await subscriber();
    expect(await run(fileOf([input]))).toMatchObject({ code: 0 });
    expect(await run(fileOf([{ ...input, billedThrough: 5 }]))).toMatchObject({
      ...{ code: 1, entries: [{ result: 'refused', type: 'ReferenceConflict' }] },
    });
    await end(input);
  });

  test('starts no more a second than it is told', async () => {
    const inputs = [await subscriber(), await subscriber(), await subscriber()];
    const { entries } = await run(fileOf(inputs), { rate: 1 });
    const times = entries.map(({ at }) => Date.parse(at)).toSorted((one, other) => one - other);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1_900);
    await end(...inputs);
  });
});
const NOBODY = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
