import { describe, expect, test } from 'vitest';
import { ASK_FLOW_ACTIVITY } from '../../src/contract/names.js';
import { LEFT_TO_ANOTHER } from '../../src/security/own-payload-converter.js';
import { checkOwnWorker } from '../../workers/own-worker.js';

const own = { taskQueue: 'shop', workflowsPath: '/shop/workflows.js' };

describe('the worker of a merchant', () => {
  test('is checked before anything is connected, and every fault is named', async () => {
    const wrong = {
      ...own,
      taskQueue: 'holdfast',
      activities: { [ASK_FLOW_ACTIVITY]: () => undefined },
      options: { activities: {}, dataConverter: {}, maxCachedWorkflows: 10 },
      workflowBundle: { code: 'of another converter' },
    };
    const faults = [
      /own\.taskQueue is "holdfast"/,
      /own\.activities has "holdfastAskFlow"/,
      /own\.options\.activities: give it as own\.activities/,
      /own\.options\.dataConverter: Holdfast sets it/,
      /own\.workflowBundle was bundled without the converters/,
    ];
    const refusal: unknown = await checkOwnWorker(wrong).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RangeError);
    for (const fault of faults) expect((refusal as RangeError).message).toMatch(fault);
    expect((refusal as RangeError).message.split('; ')).toHaveLength(faults.length);
  });

  test.each(['holdfast', 'holdfast-billing', 'holdfast-notifications', 'holdfast-deliveries'])(
    'may not serve the queue %s, whose tasks it would take from the workers of Holdfast',
    async (taskQueue) => {
      await expect(checkOwnWorker({ ...own, taskQueue })).rejects.toThrow(`own.taskQueue is "${taskQueue}"`);
    },
  );

  test('may have any other option, and a bundle that was made with the converters', async () => {
    const workerDeploymentOptions = {
      useWorkerVersioning: true,
      version: { deploymentName: 'shop', buildId: '4f1c2ab' },
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    } as const;
    const sources = {
      ...own,
      options: { maxCachedWorkflows: 10, workerDeploymentOptions },
      activities: { ship: () => 'shipped' },
    };
    await expect(checkOwnWorker(sources)).resolves.toBeUndefined();
    const bundled = { taskQueue: 'shop', workflowBundle: { code: `"${LEFT_TO_ANOTHER}"` } };
    await expect(checkOwnWorker(bundled)).resolves.toBeUndefined();
  });
});
