import { type BatchResult, runBatch } from './batch.js';
import { Counts } from './counts.js';
import type { Violation } from './violations.js';
import { ENOUGH_FLOWS, neverOccurred } from './never-zero.js';

/** Courses of events on one world: more would only cost memory. */
const BATCH = 8;
/**
 * A course of events starts several flows: the payment, what is done to it later, cards, bills; and twelve plain payments go
 * on beside it. About so many, each counted once, however often it was reset or has continued as new.
 */
const FLOWS_OF_EACH = 20;

export interface CampaignOptions {
  seed: string;
  /** About so many. */
  flows: number;
  /** Only on the unit of this name. */
  unit?: string | undefined;
  /** Only the batch of this course of events, whose whole story is told. */
  only?: number | undefined;
  /** Every `of`th batch, beginning with number `index`: the rest is for other processes. */
  share?: { index: number; of: number } | undefined;
  onBatch?: (result: BatchResult) => void;
}

export interface CampaignResult {
  violations: Violation[];
  stories: string[];
  counts: Counts;
}

/** First numbers of the batches, and how many courses of events each has. */
export function batchesOf({ flows, only, share }: Omit<CampaignOptions, 'seed'>): { first: number; courses: number }[] {
  const courses = Math.ceil(flows / FLOWS_OF_EACH);
  return Array.from({ length: Math.ceil(courses / BATCH) }, (_, batch) => batch)
    .filter((batch) => share === undefined || batch % share.of === share.index)
    .map((batch) => ({ first: batch * BATCH, courses: Math.min(BATCH, courses - batch * BATCH) }))
    .filter(({ first, courses: many }) => only === undefined || (only >= first && only < first + many));
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, only, unit, onBatch } = options;
  const result: CampaignResult = { violations: [], stories: [], counts: new Counts() };
  for (const { first, courses } of batchesOf(options)) {
    const one = await runBatch({ seed, first, courses, unit, ...(only !== undefined && { only }) });
    result.violations.push(...one.violations);
    result.stories.push(...one.stories);
    result.counts.addAll(one.counts);
    onBatch?.(one);
  }
  return result;
}

/** All that is wrong with a whole campaign: a run that is large enough must have seen everything. */
export function faultsOfCampaign(
  { violations, counts }: CampaignResult,
  { seed, flows, only, unit }: CampaignOptions,
): string[] {
  const onUnit = unit === undefined ? '' : ` --unit ${unit}`;
  const found = violations.map(
    ({ flow, sentence }) =>
      `${sentence}\n  repeat it: npm run simulate -- --seed ${seed} --flows ${flows} --only ${Math.max(0, flow)}${onUnit}`,
  );
  return [
    ...found,
    ...(flows >= ENOUGH_FLOWS && only === undefined && unit === undefined ? neverOccurred(counts) : []),
  ];
}
