import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { LoadedDataConverter } from '@temporalio/common';
import { testDataConverter } from '../../support/data-converter.js';
import type { Run } from '../engine/run.js';
import type { Simulation } from '../simulation.js';
import { Driver, isReplayed } from '../worker/driver.js';
import { workflowRuntime } from '../worker/runtime.js';
import type { Counts } from './counts.js';

export const REORDERED = 'updates handed on by a reset are replayed after its signals';

/**
 * A reset gives updates and signals to the new run in their old order. Core hands them to the flow in that order, but in
 * a replay all signals first (`apply_next_wft_from_history`): what such a flow asked for may then differ.
 */
export function isReorderedByReplay({ events }: Run): boolean {
  const admitted = events.findIndex((event) => event.workflowExecutionUpdateAdmittedEventAttributes != null);
  const signalled = events.findLastIndex((event) => event.workflowExecutionSignaledEventAttributes != null);
  return admitted !== -1 && signalled > admitted;
}

/** Every history from its first event, as a worker does that has never seen it. One sentence for each that fails. */
export async function replayAll({ engine, world }: Simulation, counts: Counts): Promise<string[]> {
  const runtime = await workflowRuntime('');
  const converter = loadDataConverter(testDataConverter(world.encryptionKeys)) as LoadedDataConverter;
  const violations: string[] = [];
  for (const run of engine.all()) {
    if (isReplayed(run)) {
      counts.add('replay', run.start.type);
      continue;
    }
    const driver = new Driver({ runtime, converter, namespace: engine.namespace }, run);
    try {
      await driver.advance(run.events, [], false);
      counts.add('replay', run.start.type);
    } catch (error) {
      if (isReorderedByReplay(run)) counts.add('known fault', REORDERED);
      else violations.push(`${run.start.workflowId}: its history can't be replayed: ${String(error)}`);
    } finally {
      await driver.dispose();
    }
  }
  return violations;
}
