import { Runtime } from '@temporalio/worker';
import type { EncryptionCodec } from '../src/security/payload-codec.js';

const EVERY_MS = 5_000;

/** What the codec counted, on the worker's metrics page. A missing key shows here before a payment does. */
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
