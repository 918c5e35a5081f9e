import { describe, expect, test } from 'vitest';
import { showDeployment } from '../../src/cli/deploy-status.js';
import { SIGNAL_NAMES } from '../../src/contract/names.js';
import { environmentOf, holdfast } from './command.js';
import { type Deployed, drain, engineWith, type Flow, QUEUES, ran, status, subscription } from './deployed.js';

describe('deploy status', () => {
  const builds = { v3: 'ramping', v2: 'current', v1: 'draining', v0: 'drained' } as const;

  test('has a line for each build, with what to do about it', async () => {
    const flows = [subscription('a', 'v1'), subscription('b', 'v2')];
    const { code, out, err } = await status({ builds, polling: ['v3', 'v2', 'v1', 'v0'], flows });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [head, , , ...lines] = out.split('\n');
    expect(head).toBe('Deployment holdfast, versions used: 4 of 100');
    expect(lines.map((line) => line.replace(/ {2,}/g, '  ').replace(/\d{4}-\S+ \S+/, 'then'))).toEqual([
      'v3  ramping 10 %  -  1 worker  1 worker  0  0',
      'v2  current  -  1 worker  1 worker  1  0',
      'v1  draining  then  1 worker  1 worker  1  0  npx holdfast deploy drain --build v1',
      'v0  drained  then  1 worker  1 worker  0  0  its workers may stop',
      '',
    ]);
  });

  test('ends with 3 where nobody follows what is pinned', async () => {
    const { code, out } = await status({ builds, polling: ['v3', 'v2'], flows: [subscription('a', 'v1')] });
    expect(code).toBe(3);
    expect(out).toContain('nobody follows what is pinned to it: start a billing worker of this build');
  });

  test.each([
    [['holdfast'], QUEUES, 'a queue has no worker of it'],
    [['holdfast'], ['holdfast'], ''],
    [['holdfast-billing'], ['holdfast-billing'], ''],
  ])('of workers on %j of the queues %j, which the deployment has ever polled, says: "%s"', async (now, ever, says) => {
    const { engine } = engineWith({ builds: { v2: 'current' }, polling: ['v2'], queues: now });
    const versionTaskQueues = ever.map((name) => ({ name }));
    Object.assign(engine.client.workflowService, {
      describeWorkerDeploymentVersion: async () => ({ versionTaskQueues }),
    });
    const { out } = await ran((output) => showDeployment(engine, { command: 'deploy status', json: false }, output));
    expect(/ {2}0 +0(?: +(\S.*))?$/m.exec(out)?.[1] ?? '').toBe(says);
  });

  test('ends with 3 where nobody follows a payment that somebody has pinned: a billing worker does not serve its queue', async () => {
    const payment: Flow = { workflowId: 'payment-a', type: 'charge', build: 'v1', queue: 'holdfast' };
    const flows = [payment, subscription('a', 'v1')];
    const billing = await status({ builds: { v1: 'draining' }, polling: ['v1'], queues: ['holdfast-billing'], flows });
    expect(billing).toMatchObject({ code: 3, out: expect.stringContaining('start a payments worker of this build') });
    const nobody = await status({ builds: { v1: 'draining' }, polling: [], flows });
    expect(nobody.out).toContain('start a payments and a billing worker of this build');
    expect(await status({ builds: { v1: 'draining' }, polling: ['v1'], flows })).toMatchObject({ code: 0 });
  });

  test.each([
    ['v3', 3],
    ['v2', 3],
    ['v1', 3],
    ['v0', 0],
  ])('of one build, %s, ends with %d: 0 only if its workers may stop', async (build, code) => {
    const deployed = { builds, polling: ['v2', 'v1'], flows: [subscription('a', 'v1')] };
    expect(await status(deployed, build)).toMatchObject({ code });
  });

  test('of a build whose ramp was set to 0 % ends with 0 once nothing is pinned to it', async () => {
    const deployed = { builds, ramp: 0, polling: ['v3', 'v2'] };
    const { code, out } = await status(deployed, 'v3');
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/v3 .*  gets no work until its ramp is raised$/m),
    });
    expect(await status({ ...deployed, flows: [subscription('a', 'v3')] }, 'v3')).toMatchObject({ code: 3 });
  });

  test('of a build that is not there names those that are', async () => {
    await expect(status({ builds, polling: [] }, 'v9')).rejects.toThrow(
      'No build "v9" is known: there is v3, v2, v1, v0.',
    );
  });

  test('says so where workers are not versioned', async () => {
    const { code, out, err } = await status({ builds, polling: [] }, undefined, { TEMPORAL_DEPLOYMENT_NAME: 'none' });
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('has no worker deployment "none": its workers are not versioned');
  });

  test('of one build is an error where workers are not versioned: a 0 would stop the workers of that build', async () => {
    await expect(status({ builds, polling: [] }, 'v0', { TEMPORAL_DEPLOYMENT_NAME: 'none' })).rejects.toThrow(
      'has no worker deployment "none": its workers are not versioned',
    );
  });

  test('of workers that are versioned under another name is an error that names it: nobody takes them for unversioned', async () => {
    const deployments = ['payments/holdfast-worker-billing', 'payments/holdfast-worker-payments'];
    const named = { TEMPORAL_DEPLOYMENT_NAME: 'none' };
    for (const build of [undefined, 'v0'])
      await expect(status({ builds, polling: [], deployments }, build, named)).rejects.toThrow(
        'has no worker deployment "none", but "payments/holdfast-worker-billing", "payments/holdfast-worker-payments": ' +
          "name the one of Holdfast's workers in TEMPORAL_DEPLOYMENT_NAME.",
      );
  });

  test('of a namespace that is not there says so, and not that its workers are unversioned', async () => {
    const { code, out, err } = await holdfast(await environmentOf('nobody-made-it'), ['deploy', 'status']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^At \S+ there is no namespace "nobody-made-it": .* name another one in TEMPORAL_NAMESPACE\.\n$/,
    );
  });
});

describe('deploy drain', () => {
  const builds = { v2: 'current', v1: 'draining' } as const;

  test('tells the subscriptions of that build alone, without a payload, and ends with 0 once all have moved', async () => {
    const flows = [subscription('a', 'v1'), subscription('b', 'v2'), subscription('c', 'v1')];
    const { engine, calls } = engineWith({ builds, polling: ['v2', 'v1'], flows });
    const { code, out } = await drain(engine, 'v1');
    expect(calls).toEqual(['a', 'c'].map((name) => `${SIGNAL_NAMES.moveOn} subscription-${name} run`));
    expect({ code, out }).toEqual({
      code: 0,
      out: '2 subscriptions of build v1 told to move on; 2 moved.\nNothing is pinned to build v1: its workers may stop.\n',
    });
  });

  test('ends with 3 and lists what is still there; payments are given away only where that is asked for', async () => {
    const payment: Flow = { workflowId: 'payment-a.1.1', type: 'charge', build: 'v1' };
    const flows: Flow[] = [{ ...subscription('a', 'v1'), busy: true }, payment];
    const { engine, calls } = engineWith({ builds, polling: ['v2', 'v1'], flows });
    const first = await drain(engine, 'v1');
    expect(first.code).toBe(3);
    expect(first.out).toMatch(/^1 subscription of build v1 told to move on; 0 moved\.$/m);
    expect(first.out).toMatch(/^2 flows still pinned to build v1:$/m);
    expect(first.out).toMatch(/^a\.1\.1 +charge/m);
    expect(calls).toEqual(['moveOn subscription-a run']);
    const second = await drain(engine, 'v1', { payments: true });
    expect(second.out).toMatch(/^1 flow still pinned to build v1:$/m);
    expect(calls.at(-1)).toBe('override payment-a.1.1');
  });

  test('says which workers what stays needs: a payment that somebody has pinned ends there, and is given to no other build', async () => {
    const payment: Flow = { workflowId: 'payment-a', type: 'charge', build: 'v1', queue: 'holdfast' };
    const flows: Flow[] = [payment, { ...subscription('a', 'v1'), busy: true }];
    const { engine, calls } = engineWith({ builds, polling: ['v2', 'v1'], flows });
    const both = await drain(engine, 'v1', { payments: true });
    expect(both.out).toContain(
      'They move once what is under way has ended. 1 payment of queue holdfast that somebody has pinned stays until it ends. ' +
        'Keep a worker of this build with HOLDFAST_TASK_QUEUES=all until then',
    );
    flows.pop();
    expect((await drain(engine, 'v1', { payments: true })).out).toMatch(
      /^1 payment .* HOLDFAST_TASK_QUEUES=payments until/m,
    );
    expect(calls).toEqual(['moveOn subscription-a run']);
  });

  test('drains a build whose ramp was set to 0 %, which the server still calls ramping', async () => {
    const present = { builds: { v2: 'ramping', v1: 'current' }, polling: ['v1'] } as const;
    const { engine, calls } = engineWith({ ...present, ramp: 0, flows: [subscription('a', 'v2')] });
    expect(await drain(engine, 'v2')).toMatchObject({ code: 0, out: expect.stringContaining('1 moved') });
    expect(calls).toEqual(['moveOn subscription-a run']);
  });

  test.each([
    [{ v2: 'current', v1: 'draining' }, ['v2'], 'v2', 'Build v2 is current'],
    [{ v2: 'current', v1: 'ramping' }, ['v2'], 'v1', 'Build v1 is ramping'],
    [{ v1: 'draining' }, ['v1'], 'v1', 'No build is current'],
    [
      { v2: 'current', v1: 'draining' },
      ['v1'],
      'v1',
      'Build v2 gets new work, but no worker of it serves subscriptions',
    ],
  ] as const)(
    'of %j with workers of %j refuses %s: they would have nowhere to go',
    async (present, polling, build, why) => {
      const flows = [subscription('a', build)];
      const { engine, calls } = engineWith({ builds: present as Deployed['builds'], polling, flows });
      await expect(drain(engine, build)).rejects.toThrow(why);
      expect(calls).toEqual([]);
    },
  );
});
