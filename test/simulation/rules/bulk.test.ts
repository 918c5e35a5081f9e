import { Client } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { parseRequest } from '../../../src/cli/arguments.js';
import type { UsageError } from '../../../src/cli/errors.js';
import { createBulkPort } from '../../../src/client/bulk-port.js';
import { BILLING_TASK_QUEUE } from '../../../src/contract/names.js';
import { anotherCard } from '../../support/subscriptions.js';
import { bulking, NOTED, only, startOf } from './bulking.js';
import { MINUTE, runLengths, SECOND, sharedTime } from './context.js';
import { fileOf } from './restored.js';

let suggestRunAfter = 4_096;
const time = sharedTime({ billing: true }, { bulkSlice: 2, suggestRunAfter: () => suggestRunAfter });
const { begin, ended, newName, results, run, runOn, subscribed } = bulking(time);

describe('a bulk', () => {
  test('gives each subscription its command once, at its rate, slice by slice and run by run, and lists what became of each', async () => {
    const flows = await subscribed(5);
    const [first, ...others] = flows;
    await first?.command('pause', { commandId: 'before' });
    const name = newName();
    suggestRunAfter = 8;
    expect((await begin(['pause'], name, ...only(flows), '--dry-run')).out).toContain('5 open subscriptions');
    const begun = await time.now();
    expect(await begin(['pause'], name, ...only(flows), '--rate', '1')).toMatchObject({
      code: 0,
      out: expect.stringContaining(`bulk-${name} is under way: 5 open`),
    });
    expect(await ended(name)).toEqual({
      ...{ status: 'completed', name, businessUnit: 'default', action: 'pause' },
      ...{ done: 4, refused: 1, failed: 0, leftAlone: 0 },
    });
    suggestRunAfter = 4_096;
    expect((await time.now()) - begun).toBeGreaterThanOrEqual(2 * SECOND);
    expect(runLengths(time, `bulk-${name}`).length).toBeGreaterThan(1);
    expect(await results(name)).toEqual(
      expect.arrayContaining([
        { subscription: first?.reference, result: 'refused', why: expect.stringContaining('paused already') },
        ...others.map(({ reference }) => ({ subscription: reference, result: 'done' })),
      ]),
    );
    for (const flow of flows) expect(await flow.status()).toMatchObject({ status: 'paused' });
    expect((await run('status', name)).out).toContain('is over: 4 done, 1 refused, 0 without an answer');
  });

  test('of the same name and words is not begun again, and of other words it is refused', async () => {
    const flows = await subscribed(1);
    const name = newName();
    await begin(['pause'], name, ...only(flows));
    const again = async () => await begin(['pause'], name, ...only(flows), '--rate', '9');
    expect(await again()).toMatchObject({ code: 0, out: expect.stringContaining('was started before') });
    await ended(name);
    await flows[0]?.command('resume');
    await expect(again()).rejects.toThrow(/^Nothing was started: bulk-.* is over .* another name/);
    expect(await flows[0]?.status()).toMatchObject({ status: 'active' });
    await expect(begin(['resume'], name, ...only(flows))).rejects.toThrow(`Another bulk has the name "${name}"`);
  });

  test('is not called begun before where Temporal does not say with which words', async () => {
    const flows = await subscribed(1);
    const name = newName();
    await begin(['pause'], name, ...only(flows));
    await ended(name);
    const getHandle = () => ({ describe: () => Promise.reject(new Error('it is away')) });
    const workflow = Object.create(time.client.workflow, { getHandle: { value: getHandle } }) as unknown;
    const client = Object.create(time.client, { workflow: { value: workflow } }) as Client;
    await expect(runOn(client, ...startOf(['resume'], name, ...only(flows)))).rejects.toThrow('it is away');
  });

  test('that was stopped goes on where it is started again, and acts once on whoever had it before', async () => {
    const flows = await subscribed(4);
    const name = newName();
    await begin(['cancel', '--when', 'periodEnd'], name, ...only(flows), '--rate', '1');
    await time.passUntil((await time.now()) + SECOND / 2);
    await run('stop', name);
    await expect(ended(name)).rejects.toThrow();
    expect([1, 2, 3]).toContain((await results(name)).length);
    expect((await run('status', name)).out).toMatch(/ was stopped: \d done.* with the same words it goes on\.\n$/);
    await begin(['cancel', '--when', 'periodEnd'], name, ...only(flows), '--rate', '1');
    await time.client.workflow.getHandle(`bulk-${name}`).terminate('by accident');
    expect(JSON.parse((await run('status', name, '--json')).out)).toMatchObject({ status: 'failed' });
    expect((await begin(['cancel', '--when', 'periodEnd'], name, ...only(flows))).out).toContain('is under way');
    expect(await ended(name)).toMatchObject({ done: 4, refused: 0 });
    expect(await results(name)).toHaveLength(4);
  });

  test.each([
    ['pause', [], 'paused'],
    // Who has taken it is not open any more.
    ['cancel', ['--when', 'now'], 'cancelled'],
  ])('is gone on with by another worker where its own dies, and tells of all: %s', async (action, more, status) => {
    const flows = await subscribed(3);
    const name = newName();
    await begin([action, ...more], name, ...only(flows), '--rate', '1');
    await time.passUntil((await time.now()) + SECOND / 2);
    for (const worker of time.simulation.workers) worker.kill();
    await time.startWorker();
    expect(await ended(name)).toMatchObject({ done: 3, refused: 0, failed: 0 });
    expect(await results(name)).toHaveLength(3);
    for (const flow of flows) expect(await flow.status()).toMatchObject({ status });
  });

  test('that came in clear is refused where workers refuse that: it would reach those who refuse it themselves', async () => {
    const [flow] = await subscribed(1);
    const input = { name: newName(), businessUnit: 'default', action: { do: 'pause' }, rate: 5, who: 'Eve', why: 'x' };
    for (const worker of time.simulation.workers) worker.kill();
    time.simulation.startWorker({ env: { HOLDFAST_PLAIN_PAYLOADS: 'refuse' } });
    const refusal = { cause: { cause: { type: 'InvalidInput', message: expect.stringContaining('came in clear') } } };
    const { connection, options } = time.client;
    const inClear = new Client({ connection, namespace: options.namespace });
    await inClear.workflow.start('bulk', {
      ...{ workflowId: `bulk-${input.name}`, taskQueue: BILLING_TASK_QUEUE },
      args: [{ ...input, query: `WorkflowId = '${flow?.workflowId}'` }],
    });
    await expect(ended(input.name)).rejects.toMatchObject(refusal);
    expect(await flow?.status()).toMatchObject({ status: 'active' });
    for (const worker of time.simulation.workers) worker.kill();
    await time.startWorker();
  });

  /** Visibility that lags: open runs are not listed, for so many questions. */
  const lagging = (questions = Infinity): Client => {
    const { connection, options } = time.client;
    const client = new Client({ ...options, connection });
    const list = client.workflow.list.bind(client.workflow);
    let asked = 0;
    client.workflow.list = (query) => {
      const all = list(query);
      const hides = (asked += 1) <= questions;
      const shown = (async function* () {
        for await (const one of all) if (!hides || one.status.name !== 'RUNNING') yield one;
      })();
      return shown as unknown as typeof all;
    };
    return client;
  };
  const targets = async (client: Client, more: object = {}) => {
    const input = {
      name: 'x',
      businessUnit: 'default',
      action: { do: 'pause' },
      rate: 1,
      who: 'Ada',
      why: 'x',
    } as const;
    const found = await createBulkPort(client).targets({ ...input, ...more }, await time.now());
    return found.map((one) => one.workflowId);
  };
  const movesOn = async (workflowId: string): Promise<void> => {
    const newest = runLengths(time, workflowId).length + 1;
    await time.client.workflow.getHandle(workflowId).signal('moveOn');
    await time.passUntil((await time.now()) + SECOND);
    expect(runLengths(time, workflowId)).toHaveLength(newest);
  };

  test('finds a subscription that has just continued as new, while its next run is not listed yet', async () => {
    const [flow] = await subscribed(1);
    const { workflowId = '' } = flow ?? {};
    await movesOn(workflowId);
    expect(await targets(lagging())).toContain(workflowId);
    expect((await targets(time.client)).filter((id) => id === workflowId)).toHaveLength(1);
    // It has moved already.
    expect(await targets(lagging(), { action: { do: 'moveOn' } })).not.toContain(workflowId);
    // Those that have long gone on are listed as open, or have ended.
    await time.passUntil((await time.now()) + 6 * MINUTE);
    expect(await targets(lagging())).not.toContain(workflowId);
  });

  test('judges a subscription that has just continued as new by its next run, once that is listed', async () => {
    const flows = await subscribed(2);
    const [goesOn, paused] = flows.map(({ workflowId }) => workflowId);
    for (const flow of flows) await flow.command('pause');
    for (const flow of flows) await movesOn(flow.workflowId);
    const query = `PaymentStatus = 'paused' AND WorkflowId IN ('${goesOn}', '${paused}')`;
    await flows[0]?.command('resume');
    expect(await targets(time.client, { query })).toEqual([paused]);
    expect(await targets(lagging(), { query })).toEqual([goesOn, paused].toSorted());
    // They come to be listed between two questions.
    expect(await targets(lagging(1), { query })).toEqual([paused]);
  });

  test('changes the cards that its file names, and leaves the others alone', async () => {
    const [changed, has, other] = await subscribed(3);
    const to = await anotherCard(time, changed?.input.customerId ?? '');
    await has?.command('changeCard', { token: await anotherCard(time, has.input.customerId) });
    const present = (await has?.status())?.subscription?.card.token;
    const file = fileOf([
      { from: changed?.input.token.toUpperCase(), to },
      { from: has?.input.token, to: present },
    ]);
    const name = newName();
    await begin(['change-card', file], name, ...only([changed!, has!, other!]));
    expect(await ended(name)).toMatchObject({ done: 2, leftAlone: 1 });
    expect(await changed?.status()).toMatchObject({ subscription: { card: { token: to } } });
    expect(await other?.status()).toMatchObject({ subscription: { card: { token: other?.input.token } } });
  });

  test('moves each subscription once, whoever continues as new meanwhile', async () => {
    const flows = await subscribed(3);
    const runs = () => flows.map(({ workflowId }) => runLengths(time, workflowId).length);
    const before = runs();
    const name = newName();
    await begin(['move'], name, ...only(flows), '--rate', '1');
    expect(await ended(name)).toMatchObject({ done: 3 });
    await time.passUntil((await time.now()) + MINUTE);
    expect(runs()).toEqual(before.map((count) => count + 1));
  });

  test('reaches no other flow, whatever its query says', async () => {
    const [flow] = await subscribed(1);
    const name = newName();
    const wide = `WorkflowId = '${flow?.workflowId}') OR (WorkflowType = 'bulk'`;
    await begin(['pause'], name, '--query', wide);
    expect(await ended(name)).toMatchObject({ done: 1, refused: 0, failed: 0 });
  });
});

describe('a bulk that can not be used is refused before anything of it is done', () => {
  const faults = (...args: string[]): readonly string[] => {
    try {
      parseRequest(['subscriptions', 'bulk', ...args]);
    } catch (error) {
      return (error as UsageError).faults;
    }
    throw new Error('was not refused');
  };

  test('with every fault of its arguments', () => {
    const args = ['--unit', 'a b', '--name', 'a/b', '--who', '', '--why', 'x', '--rate', '0'];
    expect(faults('pause', ...args, '--until', 'soon', '--open-period', 'keep')).toEqual([
      '--rate "0": use a number from 1 to 100',
      expect.stringMatching(/^--name: is no name/),
      expect.stringMatching(/^--unit: /),
      expect.stringMatching(/^action.openPeriod: /),
      expect.stringMatching(/^action.until: "soon"/),
      expect.stringMatching(/^--rate: /),
      expect.stringMatching(/^--who: /),
    ]);
  });

  test('with every fault of every line of its cards', () => {
    const [one, two] = ['3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11', '150f1279-6d2c-4728-9e23-6b303f3f1f2f'];
    const given = ['--unit', 'default', '--name', 'x', ...NOTED];
    const file = fileOf([{ from: one, to: two }, { from: two }, { from: one, to: 'new' }]);
    expect(faults('change-card', file, ...given)).toEqual([
      expect.stringMatching(/^line 2: to: /),
      expect.stringMatching(/^line 3: to: /),
    ]);
    const twice = fileOf([
      { from: one, to: two },
      { from: two, to: one.toUpperCase() },
      { from: one.toUpperCase(), to: two },
    ]);
    expect(faults('change-card', twice, ...given)).toEqual([
      'line 3: from: stands in line 1 already',
      'line 1: to: is itself replaced, in line 2',
      'line 2: to: is itself replaced, in line 1',
      'line 3: to: is itself replaced, in line 2',
    ]);
  });

  test('with a sentence where there is none of that name', async () => {
    for (const verb of ['status', 'results', 'stop'])
      await expect(run(verb, 'nobody')).rejects.toMatchObject({ name: 'CommandError' });
  });

  test('with what Temporal says of its query', async () => {
    await expect(begin(['pause'], newName(), '--query', 'BusinessUnit ==')).rejects.toThrow("--query can't be used");
  });

  test('with the failure of Temporal itself, which says nothing of its query', async () => {
    const away = Object.assign(new Error('14 UNAVAILABLE: away'), { code: 14, details: 'away', metadata: {} });
    const count = () => Promise.reject(new Error('Failed to count workflows', { cause: away }));
    const workflow = Object.create(time.client.workflow, { count: { value: count } }) as unknown;
    const client = Object.create(time.client, { workflow: { value: workflow } }) as Client;
    const words = startOf(['pause'], newName(), '--query', "PaymentStatus = 'active'");
    await expect(runOn(client, ...words)).rejects.toThrow('Failed to count workflows');
  });
});
