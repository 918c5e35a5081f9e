import type { MetricsExporterConfig } from '@temporalio/worker';

/** Label `build` of a worker that has none. A label without a value is one that Prometheus does not have. */
const NO_BUILD = 'none';

export interface MetricsSource {
  /** Where the SDK serves `/metrics`, such as `127.0.0.1:9464`. */
  bindAddress: string;
  environment: string;
  buildId?: string | undefined;
}

/**
 * The SDK's exporter as dashboards and alerts know it (docs/metrics.md): a process with a `Runtime` of its own passes it as
 * `telemetryOptions.metrics`, else names and units there are others.
 */
export function workerMetrics({ bindAddress, environment, buildId = NO_BUILD }: MetricsSource): MetricsExporterConfig {
  return {
    globalTags: { environment, build: buildId },
    prometheus: { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
  };
}
