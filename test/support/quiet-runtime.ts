import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

/**
 * Lets the SDK in this process log errors only: failed attempts by the thousand are what these tests are about, and the
 * time-skipping server lacks capabilities that the SDK warns of. The files of one process share its runtime, which may be installed once only.
 */
export function quietRuntime(): void {
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter } } });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
