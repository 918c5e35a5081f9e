import { Runtime } from '@temporalio/worker';
import type { EncryptionCodec } from '../src/security/payload-codec.js';

const EVERY_MS = 5_000;

/** Publishes the codec's counts as worker metrics: a missing key shows there before it affects a payment. */
export function reportCodecCounts(codec: EncryptionCodec): NodeJS.Timeout {
  const meter = Runtime.instance().metricMeter;
  const undecodable = meter.createGauge('holdfast_codec_undecodable');
  const report = (): void => {
    const { counts } = codec;
    for (const [reason, count] of Object.entries(counts.undecodable)) undecodable.set(count, { reason });
  };
  report();
  return setInterval(report, EVERY_MS).unref();
}
