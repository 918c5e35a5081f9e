import { Runtime } from '@temporalio/worker';
import { WORKER_COUNTERS } from '../src/contract/metrics.js';
import type { EncryptionCodec } from '../src/security/payload-codec.js';

const EVERY_MS = 5_000;

/** Publishes the codec's counts as worker metrics: a missing key shows there before it affects a payment. */
export function reportCodecCounts(codec: EncryptionCodec): NodeJS.Timeout {
  const undecodable = Runtime.instance().metricMeter.createCounter(WORKER_COUNTERS.codecUndecodable);
  const published = new Map<string, number>();
  const report = (): void => {
    for (const [reason, count] of Object.entries(codec.counts.undecodable)) {
      undecodable.add(count - (published.get(reason) ?? 0), { reason });
      published.set(reason, count);
    }
  };
  report();
  return setInterval(report, EVERY_MS).unref();
}
