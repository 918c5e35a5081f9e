import { Runtime } from '@temporalio/worker';
import { WORKER_COUNTERS } from '../src/contract/metrics.js';
import type { EncryptionCodec } from '../src/security/payload-codec.js';

const EVERY_MS = 5_000;

/** Publishes the codec's counts as worker metrics: a missing key shows there before it affects a payment, and so does a copied payload. */
export function reportCodecCounts(codec: EncryptionCodec): NodeJS.Timeout {
  const undecodable = Runtime.instance().metricMeter.createCounter(WORKER_COUNTERS.codecUndecodable);
  const otherFlow = Runtime.instance().metricMeter.createCounter(WORKER_COUNTERS.codecOtherFlow);
  const published = new Map<string, number>();
  let publishedOther = 0;
  const report = (): void => {
    const { counts } = codec;
    otherFlow.add(counts.otherFlow - publishedOther);
    publishedOther = counts.otherFlow;
    for (const [reason, count] of Object.entries(counts.undecodable)) {
      undecodable.add(count - (published.get(reason) ?? 0), { reason });
      published.set(reason, count);
    }
  };
  report();
  return setInterval(report, EVERY_MS).unref();
}
