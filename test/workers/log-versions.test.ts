import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/security/logging.js';
import { logVersions } from '../../workers/log-versions.js';
import { until } from '../support/until.js';

/** What the workers of a merchant's process log, where the server answers with this. */
async function logged(answers: { routing?: object; status?: number }, buildId?: string): Promise<string[]> {
  const lines: string[] = [];
  const asked: string[] = [];
  const client = {
    options: { namespace: 'shop' },
    withDeadline: (_at: number, ask: () => unknown) => ask(),
    workflowService: {
      async describeTaskQueue({ taskQueue }: { taskQueue: { name: string } }) {
        asked.push(taskQueue.name);
        return { versioningInfo: answers.routing };
      },
      async describeWorkerDeploymentVersion() {
        asked.push('version');
        return { workerDeploymentVersionInfo: { status: answers.status } };
      },
    },
  } as unknown as Client;
  const logger = createLogger({ name: 'worker', stream: { write: (line) => void lines.push(line) } });
  const config = { deploymentName: 'holdfast', ...(buildId !== undefined && { buildId }) };
  const queues = ['holdfast-billing', 'holdfast-notifications', 'shop'];
  const end = logVersions(config, { client, queues, logger, everyMs: 5 });
  await until(
    async () => asked.length,
    (count) => count >= 3,
  );
  await end();
  const { length } = asked;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked).toHaveLength(length);
  expect(new Set(asked)).toEqual(new Set([buildId === undefined ? 'holdfast-billing' : 'version']));
  return lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
}

test("workers in a merchant's process log that they get nothing beside a current build", async () => {
  const routing = { currentDeploymentVersion: { buildId: 'b7', deploymentName: 'holdfast' } };
  expect(await logged({ routing })).toEqual([
    expect.stringMatching(/^Not ready: build "b7" .* on task queue "holdfast-billing".*--unversioned\.$/),
  ]);
  expect(await logged({})).toEqual([]);
});

test('or what their own build is, where that means something', async () => {
  const inactive = await logged({ status: 1 }, 'b7');
  expect(inactive.length).toBeGreaterThan(1);
  expect(new Set(inactive)).toEqual(new Set([expect.stringMatching(/^Build "b7".*is not current/)]));
  expect(await logged({ status: 2 }, 'b7')).toEqual([]);
  expect(await logged({ status: 4 }, 'b7')).toEqual([expect.stringContaining('is draining')]);
});
