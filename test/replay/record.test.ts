import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { startStack, type TestStack } from '../support/stack.js';
import { bundlePath } from '../support/temporal.js';
import { startVirtualTime, type VirtualTime, type VirtualTimeOptions } from '../support/virtual-time.js';
import { until } from '../support/until.js';
import { CHANGES } from './changes.js';
import { EVERY_LONG_SCENARIO, EVERY_SCENARIO, SCENARIO_WORKER_ENV, timeOf } from './every-scenario.js';
import { goldenNames, PRESENT, readGolden, replayGolden } from './golden.js';
import { checksumsOfRecordings, noteNewRecordings, readManifest, unexplained } from './manifest.js';
import { workflowRuntime } from './runtime.js';
import type { OneRun } from './scenarios.js';

// Run by `npm run golden` only: records the histories that do not exist yet.
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'CONTINUED_AS_NEW'];
const INTO = process.env['HOLDFAST_RECORD_INTO'];
/** With the changes that are meant since the histories there were made: of a release's there are none yet. */
const [FOLDER, MEANT] = INTO === undefined ? [PRESENT, CHANGES] : [pathToFileURL(`${INTO}/`), []];
const fileOf = (name: string): URL => new URL(`histories/${name}.json`, FOLDER);

function handleOf({ workflow }: Client, one: string | OneRun): WorkflowHandle {
  return typeof one === 'string' ? workflow.getHandle(one) : workflow.getHandle(one.workflowId, one.runId);
}

function missing<Run>(scenarios: Readonly<Record<string, Run>>): [string, Run][] {
  const wanted = process.env['HOLDFAST_RECORD_ONLY'] ?? '';
  return Object.entries(scenarios).filter(([name]) => name.includes(wanted) && !existsSync(fileOf(name)));
}

/** Those that the same time serves together. */
function inTimes<Run>(all: readonly [string, Run][]) {
  const keyOf = ([name]: [string, Run]): string => JSON.stringify(timeOf(name));
  return [...new Set(all.map(keyOf))].map(
    (key) => [JSON.parse(key) as VirtualTimeOptions, all.filter((one) => keyOf(one) === key)] as const,
  );
}

/** Writes the history once its flow has ended; answers how it did. */
async function record(name: string, handle: WorkflowHandle): Promise<string> {
  const { status } = await until(
    () => handle.describe(),
    (description) => description.status.name !== 'RUNNING',
  );
  mkdirSync(new URL('histories/', FOLDER), { recursive: true });
  const history = await handle.fetchHistory();
  // The time-skipping server leaves the id out and adds time-outs nobody asked for; a flow checks both.
  const start = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (start) {
    Object.assign(start, {
      workflowId: handle.workflowId,
      workflowExecutionTimeout: null,
      workflowRunTimeout: null,
    });
  }
  writeFileSync(fileOf(name), `${JSON.stringify(JSON.parse(historyToJSON(history)))}\n`, { flag: 'wx' });
  return status.name;
}

const short = missing(EVERY_SCENARIO);
const long = missing(EVERY_LONG_SCENARIO);

if (short.length + long.length === 0) test('every golden history is there already', () => expect(short).toEqual(long));

if (short.length > 0)
  describe('a golden history can be made', () => {
    let stack: TestStack;
    beforeAll(async () => {
      stack = await startStack({
        real: true,
        billing: true,
        pendingMs: 3_600_000,
        workerEnv: SCENARIO_WORKER_ENV,
      });
    });
    afterAll(async () => {
      await stack?.close();
    });
    test.each(short)('%s', async (name, run) => {
      expect(ENDED).toContain(await record(name, handleOf(stack.temporal, await run(stack))));
    });
  });

for (const [options, some] of inTimes(long))
  describe('a golden history can be made in skipped time', () => {
    let time: VirtualTime;
    beforeAll(async () => {
      time = await startVirtualTime(options);
    });
    afterAll(async () => {
      await time?.close();
    });
    test.each(some)(
      '%s',
      async (name, run) => {
        expect(ENDED).toContain(await record(name, handleOf(time.client, await run(time))));
      },
      240_000,
    );
  });

describe('what a history does not hold is written down beside it', () => {
  test('what its local activities were given', async () => {
    const runtime = await workflowRuntime(bundlePath());
    mkdirSync(new URL('local-activities/', FOLDER), { recursive: true });
    for (const name of goldenNames(FOLDER)) {
      const file = new URL(`local-activities/${name}.json`, FOLDER);
      if (existsSync(file)) continue;
      const { locals } = await replayGolden(runtime, await readGolden(name, FOLDER), []);
      if (Object.keys(locals).length > 0) writeFileSync(file, `${JSON.stringify(locals, null, 2)}\n`, { flag: 'wx' });
      expect((await replayGolden(runtime, await readGolden(name, FOLDER), MEANT)).complaints).toEqual([]);
    }
    await runtime.close();
  });

  test('its checksum', () => {
    noteNewRecordings(FOLDER);
    expect(unexplained(readManifest(FOLDER), checksumsOfRecordings(FOLDER))).toEqual([]);
  });
});
