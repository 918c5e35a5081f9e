import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundlePath } from '../support/temporal.js';
import { alter, textIn } from './altered.js';
import { CHANGES } from './changes.js';
import { EVERY_LONG_SCENARIO, EVERY_SCENARIO } from './every-scenario.js';
import { goldenNames, readGolden, replayGolden } from './golden.js';
import { checksumsOfRecordings, readManifest, unexplained } from './manifest.js';
import { type Runtime, workflowRuntime } from './runtime.js';

const names = goldenNames();

describe('old histories replay on new code, which asks for the same to the letter', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await workflowRuntime(bundlePath());
  });
  afterAll(async () => {
    await runtime?.close();
  });

  test('every ending has its golden history, and every golden history an ending', () => {
    expect(names).toEqual(Object.keys({ ...EVERY_SCENARIO, ...EVERY_LONG_SCENARIO }).toSorted());
  });

  test('no recording has been made again without a reason that is written down', () => {
    expect(unexplained(readManifest(), checksumsOfRecordings())).toEqual([]);
  });

  test('each change that is meant belongs to a golden history', () => {
    expect(CHANGES.filter(({ history }) => !names.includes(history))).toEqual([]);
  });

  // An empty folder fails above: then there is no case here.
  for (const name of names) {
    test(name, async () => {
      const { complaints } = await replayGolden(runtime, await readGolden(name), CHANGES);
      expect(complaints).toEqual([]);
    });
  }

  test('and where a newer worker has answered an activity amid it, whose mark the older code has not read', async () => {
    const golden = await readGolden('charge-declined-after-provider-error');
    const answers = golden.history.events?.map((event) => event.markerRecordedEventAttributes);
    const answer = answers?.find((one) => textIn(one).includes('provider_error'));
    alter(answer, '"status":"Failed"', '"status":"Failed","earlierTryOpen":true');
    expect(textIn(answer)).toContain('earlierTryOpen');
    expect((await replayGolden(runtime, golden, CHANGES)).complaints).toEqual([]);
  });
});
