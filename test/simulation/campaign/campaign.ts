import { type BatchResult, runBatch } from './batch.js';
import { Counts } from './counts.js';

export const BATCH = 100;

export interface CampaignOptions {
  seed: string;
  flows: number;
  /** Only the batch of this flow. */
  only?: number | undefined;
  /** Takes each `of`th batch, beginning with number `index`. */
  share?: { index: number; of: number } | undefined;
  onBatch?: (done: number, result: BatchResult) => void;
}

export interface CampaignResult {
  wrongs: { flow: number; sentence: string }[];
  stories: string[];
  counts: Counts;
  flows: number;
}

export async function runCampaign({ seed, flows, only, share, onBatch }: CampaignOptions): Promise<CampaignResult> {
  const result: CampaignResult = { wrongs: [], stories: [], counts: new Counts(), flows: 0 };
  for (let first = 0, batch = 0; first < flows; first += BATCH, batch += 1) {
    if (only !== undefined && (only < first || only >= first + BATCH)) continue;
    if (share !== undefined && batch % share.of !== share.index) continue;
    const count = Math.min(BATCH, flows - first);
    const one = await runBatch({ seed, first, flows: count, ...(only !== undefined && { only }) });
    result.wrongs.push(...one.wrongs);
    result.stories.push(...one.stories);
    result.counts.addAll(one.counts);
    result.flows += count;
    onBatch?.(result.flows, one);
  }
  return result;
}
