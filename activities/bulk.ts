import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  BULK_SLICE,
  type BulkActivities,
  type BulkInput,
  bulkInputSchema,
  type BulkPort,
  type BulkResult,
  type BulkSlice,
  type BulkSliceCall,
  type BulkTarget,
} from '../src/contract/bulk.js';
import { FAILURE_TYPES } from '../src/contract/names.js';
import { IN_CLEAR, isSealed } from '../src/contract/payload-marks.js';
import { type ActivityTable, buildActivities, requireDecodedCall } from './build-activities.js';

/** What was listed for a bulk, and when (epoch ms), by the bulk. */
type Lists = Map<string, { at: number; targets: BulkTarget[] }>;

interface BulkDeps {
  bulk: BulkPort;
  /** Subscriptions of one call, whose results are in the history. */
  bulkSlice?: number;
  /** Whether an unencrypted input is refused. */
  refusesClear?: boolean;
}

export function createBulkActivities(deps: BulkDeps): BulkActivities {
  const lists: Lists = new Map();
  const table: ActivityTable<BulkDeps, BulkActivities> = {
    bulkSlice: async (given, call) => await bulkSlice(given, lists, call),
  };
  return buildActivities(deps, table, requireDecodedCall);
}

/** More would say that they answer more slowly than they are asked. */
const AT_ONCE = 20;
/** Less than a third of the heartbeat timeout. */
const BEAT_MS = 5_000;

/** The subscriptions of one call. */
interface Chosen {
  targets: BulkTarget[];
  areMore: boolean;
}

/**
 * The next subscriptions by their workflow ids: lists promise no order, and whoever continues as new meanwhile would come
 * twice or never. An attempt after this one asks the same ones again, which acts once: whoever has taken the command may
 * not be listed any more. Where it is cancelled, or its worker stops, it returns what it has.
 */
async function bulkSlice(deps: BulkDeps, lists: Lists, call: BulkSliceCall): Promise<BulkSlice> {
  const { bulk } = deps;
  let chosen = activityInfo().heartbeatDetails as Chosen | undefined;
  const beats = setInterval(() => heartbeat(chosen), BEAT_MS).unref();
  const results: BulkResult[] = [];
  let leftAlone = 0;
  try {
    const input = await inputOf(deps);
    chosen ??= await choose(deps, lists, input, call);
    heartbeat(chosen);
    const { targets, areMore } = chosen;
    const underWay = new Set<Promise<void>>();
    let asked = 0;
    for (const target of targets) {
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
    const last = targets[asked - 1]?.workflowId;
    return { results, leftAlone, ...((areMore || asked < targets.length) && last !== undefined && { last }) };
  } finally {
    clearInterval(beats);
  }
}

/** ms. What was listed counts for so long: each list is one of the whole unit. */
const LISTED_FOR_MS = 600_000;

async function choose(
  { bulk, bulkSlice: most = BULK_SLICE }: BulkDeps,
  lists: Lists,
  input: BulkInput,
  { after = '', begun }: BulkSliceCall,
): Promise<Chosen> {
  const now = Date.now();
  for (const [name, { at }] of lists) if (at <= now - LISTED_FOR_MS) lists.delete(name);
  const name = `${input.name} ${begun}`;
  const { at, targets } = lists.get(name) ?? { at: now, targets: await bulk.targets(input, begun) };
  const left = targets.filter((target) => target.workflowId > after);
  if (left.length > most) lists.set(name, { at, targets });
  else lists.delete(name);
  return { targets: left.slice(0, most), areMore: left.length > most };
}

/** @throws ApplicationFailure `InvalidInput` for one in clear where subscriptions would refuse the command in clear */
async function inputOf({ bulk, refusesClear }: BulkDeps): Promise<BulkInput> {
  const { workflowId = '', runId = '' } = activityInfo().workflowExecution ?? {};
  const input = await bulk.inputOf(workflowId, runId);
  if (refusesClear === true && !isSealed(input))
    throw ApplicationFailure.nonRetryable(`Nothing was done: the input ${IN_CLEAR}`, FAILURE_TYPES.invalidInput);
  return bulkInputSchema.parse(input);
}
