import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { LoadedDataConverter } from '@temporalio/common';
import { testDataConverter } from '../../support/data-converter.js';
import type { Simulation } from '../simulation.js';
import { Driver, isReplayed } from '../worker/driver.js';
import { BUNDLE, workflowRuntime } from '../worker/runtime.js';
import type { Counts } from './counts.js';

/**
 * Every history from its first event, as a worker does that has never seen it. One sentence for each that fails.
 * @param takes by the number of the run; of those that it does not take only the crashes have replayed something
 */
export async function replayAll(
  { engine, world }: Simulation,
  counts: Counts,
  takes: (index: number) => boolean = () => true,
): Promise<string[]> {
  const runtime = await workflowRuntime(BUNDLE);
  const converter = loadDataConverter(testDataConverter(world.encryptionKeys)) as LoadedDataConverter;
  const violations: string[] = [];
  for (const [index, run] of [...engine.all()].entries()) {
    if (!takes(index)) continue;
    if (isReplayed(run)) {
      counts.add('replay', run.start.type);
      continue;
    }
    const driver = new Driver({ runtime, converter, namespace: engine.namespace }, run);
    try {
      await driver.advance(run.events, [], false);
      counts.add('replay', run.start.type);
    } catch (error) {
      violations.push(`${run.start.workflowId}: its history can't be replayed: ${String(error)}`);
    } finally {
      await driver.dispose();
    }
  }
  return violations;
}
