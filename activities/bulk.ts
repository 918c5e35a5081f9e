import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import {
  type BulkActivities,
  bulkInputSchema,
  type BulkPort,
  type BulkResult,
  type BulkSlice,
  type BulkSliceCall,
} from '../src/contract/bulk.js';
import { type ActivityTable, buildActivities, requireDecodedCall } from './build-activities.js';

interface BulkDeps {
  bulk: BulkPort;
  /** Subscriptions of one call, whose results are in the history. */
  bulkSlice?: number;
}

export function createBulkActivities(deps: BulkDeps): BulkActivities {
  const table: ActivityTable<BulkDeps, BulkActivities> = { bulkSlice };
  return buildActivities(deps, table, requireDecodedCall);
}

const SLICE = 1_000;
/** More would say that they answer more slowly than they are asked. */
const AT_ONCE = 20;
/** Less than a third of the heartbeat timeout. */
const BEAT_MS = 5_000;

/**
 * The next subscriptions by their workflow ids: lists promise no order, and whoever continues as new meanwhile would come
 * twice or never. An attempt after this one asks the same again, which acts once. Where it is cancelled, or its worker
 * stops, it returns what it has.
 */
async function bulkSlice(
  { bulk, bulkSlice: most = SLICE }: BulkDeps,
  { after = '', begun }: BulkSliceCall,
): Promise<BulkSlice> {
  const { workflowId = '', runId = '' } = activityInfo().workflowExecution ?? {};
  const beats = setInterval(() => heartbeat(), BEAT_MS).unref();
  const results: BulkResult[] = [];
  let leftAlone = 0;
  try {
    const input = bulkInputSchema.parse(await bulk.inputOf(workflowId, runId));
    const left = (await bulk.targets(input, begun)).filter((target) => target.workflowId > after);
    const underWay = new Set<Promise<void>>();
    let asked = 0;
    for (const target of left.slice(0, most)) {
      if (asked > 0)
        await sleep(1_000 / input.rate, undefined, { signal: cancellationSignal() }).catch(() => undefined);
      while (underWay.size >= AT_ONCE) await Promise.race(underWay);
      if (cancellationSignal().aborted && asked > 0) break;
      asked += 1;
      const answered = bulk.command(input, target).then((result) => {
        underWay.delete(answered);
        if (result === undefined) leftAlone += 1;
        else results.push(result);
      });
      underWay.add(answered);
    }
    await Promise.all(underWay);
    const last = left[asked - 1]?.workflowId;
    return { results, leftAlone, ...(asked < left.length && last !== undefined && { last }) };
  } finally {
    clearInterval(beats);
  }
}
