import { type DataConverter, IllegalStateError, type Payload, type PayloadCodec } from '@temporalio/common';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  type ReplayHistoriesIterable,
  Runtime,
  Worker,
} from '@temporalio/worker';
import { builtBundlePath, bundleWorkflows } from './bundle-workflows.js';

export interface Replayed {
  workflowId: string;
  runId: string;
  /** What the code does otherwise than the history has it; undefined if nothing. */
  difference: string | undefined;
}

/**
 * Replays histories with the workflows of this build. Nothing is sent: a replay runs no activities.
 * @param histories encrypted as the engine has them
 */
export async function* replayHistories(
  histories: ReplayHistoriesIterable,
  dataConverter: DataConverter,
): AsyncGenerator<Replayed> {
  logErrorsOnly();
  const codePath = builtBundlePath();
  const workflowBundle = codePath === undefined ? { code: await bundleWorkflows() } : { codePath };
  const thrown = new ThrownErrors();
  const readable = { ...dataConverter, payloadCodecs: [thrown, ...(dataConverter.payloadCodecs ?? [])] };
  const replays = Worker.runReplayHistories({ workflowBundle, dataConverter: readable }, histories);
  for await (const { workflowId, runId, error } of replays) {
    const last = thrown.take();
    const isQuoted = error?.message.includes(ENCRYPTED) === true && last !== undefined;
    yield { workflowId, runId, difference: isQuoted ? last : error?.message };
  }
}

/** The message of a failure whose own is encrypted. */
const ENCRYPTED = 'Encoded failure';

/**
 * What the workflow's code has thrown: Core quotes a failure as it gets it, encrypted. Codecs encode in the order of
 * their list, so the first one sees it in clear.
 */
class ThrownErrors implements PayloadCodec {
  #last: string | undefined;

  async encode(payloads: Payload[]): Promise<Payload[]> {
    for (const { data } of payloads) {
      const text = Buffer.from(data ?? []).toString();
      if (text.startsWith('{"message":')) this.#last = (JSON.parse(text) as { message: string }).message;
    }
    return payloads;
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads;
  }

  take(): string | undefined {
    const last = this.#last;
    this.#last = undefined;
    return last;
  }
}

/** Each difference is told by its caller; the SDK would log it too, with a stack. */
function logErrorsOnly(): void {
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined), telemetryOptions: { logging: { filter } } });
  } catch (error) {
    // A process has one runtime, which others may have installed.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
