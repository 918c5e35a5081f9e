import { createRequire } from 'node:module';
import workerThreads, { type WorkerOptions } from 'node:worker_threads';
import { type FlowOfThread, ThreadRecord, type ThreadSettings } from './thread-record.js';

/** Versions of the SDK whose workflow threads `in-thread.ts` was tried with. */
const TRIED = ['1.24.0'];
/** The SDK's file that a workflow thread runs. */
const WORKFLOW_THREAD = /[\\/]@temporalio[\\/]worker[\\/]lib[\\/]workflow[\\/]workflow-worker-thread\.js$/;
/** ms. As often it is looked at the threads, and so many looks in a row find an endless loop: the SDK's own 5 s. */
const LOOK_EVERY_MS = 1_000;
const LOOKS = 5;

export interface WatchOptions {
  /** Whether the "Call Stack" tab of a flow works, at about twice the CPU. */
  callStacks: boolean;
  /** Whether the SDK's own time limit stays for every flow. */
  limited: boolean;
  /** Called once for each thread that does not come back. */
  onEndlessLoop: (flow: FlowOfThread) => void;
  /** For tests. */
  version?: string;
}

/**
 * Makes workflow threads that are started from now on run without the SDK's overhead, and watches them. It changes what
 * the whole process starts: for a program of our own alone.
 *
 * @returns the version of the SDK if it was not tried with this: everything then runs as shipped
 */
export function watchThreads(options: WatchOptions): { untried: string } | undefined {
  const version = options.version ?? versionOfSdk();
  if (!TRIED.includes(version)) return { untried: version };
  const { Worker } = workerThreads;
  const first = new URL('./in-thread.js', import.meta.url);
  workerThreads.Worker = class extends Worker {
    constructor(file: string | URL, given: WorkerOptions = {}) {
      if (!WORKFLOW_THREAD.test(String(file))) {
        super(file, given);
        return;
      }
      const memory = ThreadRecord.memory();
      const { callStacks, limited } = options;
      // Not by `execArgv`: where it is named, Node refuses flags of the process that a thread can't have.
      const workerData: ThreadSettings = { main: String(file), memory, callStacks, limited };
      super(first, { ...given, workerData });
      const looks = setInterval(lookAt(new ThreadRecord(memory), options.onEndlessLoop), LOOK_EVERY_MS).unref();
      this.once('exit', () => clearInterval(looks));
    }
  };
  return undefined;
}

/** Counts looks, not time: a process that was stopped for minutes finds no loop. */
function lookAt(record: ThreadRecord, onEndlessLoop: WatchOptions['onEndlessLoop']): () => void {
  let last: number | undefined;
  let looks = 0;
  return () => {
    const running = record.running();
    looks = running !== undefined && running === last ? looks + 1 : 0;
    last = running;
    if (looks === LOOKS) onEndlessLoop(record.flow());
  };
}

function versionOfSdk(): string {
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string };
  return version;
}
