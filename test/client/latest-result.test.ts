import { TypedSearchAttributes } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { createBillingPort } from '../../src/client/billing-port.js';
import { countOutgoing } from '../../src/client/count-outgoing.js';
import { createEnginePort } from '../../src/client/engine-port.js';
import { referenceOfWorkflowId } from '../../src/contract/names.js';
import { markSealed } from '../../src/contract/payload-marks.js';
import { engineWith, ID, type Run } from './engine-with.js';

describe('the latest result under an id', () => {
  const ours = (result: string) => markSealed({ result });
  const completed = (runId: string, result: string): Run => ({ runId, status: 'COMPLETED', result: ours(result) });
  const inClear: Run = { runId: 'clear', status: 'COMPLETED', result: { result: 'of a stranger' } };
  test.each<[string, Run[], unknown]>([
    ['is nothing where nothing has ended', [{ runId: 'a', status: 'RUNNING' }], undefined],
    ['is that of the newest run which has one', [completed('b', 'new'), completed('a', 'old')], ours('new')],
    [
      'is not hidden by runs that left none',
      [
        { runId: 'd', status: 'TERMINATED', result: 'never read' },
        { runId: 'c', status: 'FAILED' },
        { runId: 'b', status: 'CONTINUED_AS_NEW' },
        completed('a', 'done'),
      ],
      ours('done'),
    ],
    ['is not one in clear, which no worker has written', [inClear, completed('a', 'done')], ours('done')],
    ['is never the own', [completed('own', 'own'), completed('a', 'done')], ours('done')],
    [
      'is that of the run which ours was opened after, whatever visibility shows',
      [{ runId: 'own', takesOver: 'b' }, { ...completed('b', 'new'), unlisted: true }, completed('a', 'old')],
      ours('new'),
    ],
    [
      'is found behind a terminated run that visibility does not show',
      [
        { runId: 'own', takesOver: 'b', unlisted: true },
        { runId: 'b', status: 'TERMINATED', takesOver: 'a', unlisted: true },
        { ...completed('a', 'done'), unlisted: true },
      ],
      ours('done'),
    ],
    [
      'is that of the run from which a reset has made ours',
      [
        { runId: 'own', original: 'a', base: 'a', unlisted: true },
        { ...completed('a', 'done'), unlisted: true },
      ],
      ours('done'),
    ],
    [
      'is nothing where our client has opened the first run, and no list is asked',
      [{ runId: 'own', takesOver: 'none', unlisted: true }],
      undefined,
    ],
    [
      'passes over a run that visibility alone still knows',
      [{ runId: 'own' }, { ...completed('b', 'deleted'), gone: true }, completed('a', 'done')],
      ours('done'),
    ],
  ])('%s', async (_what, runs, result) => {
    const own: Run[] = runs.some(({ runId }) => runId === 'own') ? [] : [{ runId: 'own' }];
    const latest = await createEnginePort(engineWith([...own, ...runs])).latestResult(ID, 'own');
    expect(latest.result).toEqual(result);
  });

  test('is not looked for in a list that does not show our own run yet', async () => {
    const port = createEnginePort(engineWith([{ runId: 'own', unlisted: true }, completed('a', 'done')]));
    await expect(port.latestResult(ID, 'own')).rejects.toThrow('it lags');
  });

  test.each<[string, Run[], object]>([
    [
      'has ended, though no list shows it',
      [{ ...completed('a', 'done'), unlisted: true }],
      { result: ours('done'), ofLatestRun: true },
    ],
    [
      'was terminated after a reset',
      [
        { runId: 'b', status: 'TERMINATED', original: 'a', base: 'a' },
        { ...completed('a', 'done'), unlisted: true },
      ],
      { result: ours('done'), ofLatestRun: false },
    ],
    [
      'was followed by one in clear',
      [inClear, { ...completed('a', 'done') }],
      { result: ours('done'), ofLatestRun: false },
    ],
    [
      'was followed by one that was refused',
      [{ runId: 'b', status: 'FAILED' }, { ...completed('a', 'done') }],
      { result: ours('done'), ofLatestRun: true },
    ],
    ['was terminated', [{ runId: 'a', status: 'TERMINATED' }], { result: undefined, ofLatestRun: false }],
    ['is not kept any more', [], { result: undefined, ofLatestRun: false }],
  ])('of another flow is asked of the latest run itself: one that %s', async (_what, runs, found) => {
    expect(await createEnginePort(engineWith(runs)).latestResult(ID)).toMatchObject(found);
  });
});

describe('what somebody else has written in clear in the place of a flow', () => {
  test('is no outcome of an attempt to bill', async () => {
    const read = async (result: object) => {
      const typedSearchAttributes = new TypedSearchAttributes([]);
      const described = { workflowId: ID, runId: 'run', status: { name: 'COMPLETED' }, typedSearchAttributes };
      const handle = { describe: () => Promise.resolve(described), result: () => Promise.resolve(result) };
      const workflowService = { getWorkflowExecutionHistory: () => Promise.resolve({}) };
      const client = { workflow: { getHandle: () => handle }, workflowService, options: {} } as never;
      return await createBillingPort(client).readFlow(ID);
    };
    const result = { status: 'succeeded', amount: 999, reference: referenceOfWorkflowId(ID) };
    expect(await read(result)).toMatchObject({ state: 'lost', why: expect.stringContaining('in clear') as string });
    expect(await read(markSealed({ ...result }))).toMatchObject({ state: 'ended' });
    // A copy of what another flow has ended with.
    const copied = await read(markSealed({ ...result, reference: 'order-7' }));
    expect(copied).toMatchObject({ state: 'lost', why: 'its result is that of "order-7"' });
  });

  test('counts no refund', async () => {
    const answering = (answer: object) =>
      ({ workflow: { executeUpdateWithStart: () => Promise.resolve(answer) } }) as never;
    const day = { businessUnit: 'default', day: '2027-03-03' } as never;
    await expect(countOutgoing(answering({ counted: true }), day, {} as never)).rejects.toThrow('came in clear');
    expect(await countOutgoing(answering(markSealed({ counted: true })), day, {} as never)).toEqual({ counted: true });
  });
});
