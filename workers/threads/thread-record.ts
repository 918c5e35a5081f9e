/** What a workflow thread is told when it starts. */
export interface ThreadSettings {
  /** The SDK's file, which runs then. */
  main: string;
  /** Memory of {@link ThreadRecord}. */
  memory: SharedArrayBuffer;
  /** Whether call stacks are taken. */
  callStacks: boolean;
  /** Whether the SDK's time limit stays for every flow. */
  limited: boolean;
}

/** The flow whose code runs. */
export interface FlowOfThread {
  workflowId: string;
  runId: string;
  workflowType: string;
  taskQueue: string;
}

const LONGEST_NAME = 4_096;
const COUNTS = 2 * Int32Array.BYTES_PER_ELEMENT;

/** Memory that a workflow thread and the main thread share: which flow's code runs, if any. */
export class ThreadRecord {
  /** The first counts entries and exits, so that it is odd while code runs; the second is the length of the name. */
  readonly #counts: Int32Array;
  readonly #name: Uint8Array;
  #named: FlowOfThread | undefined;

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(COUNTS + LONGEST_NAME);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#counts = new Int32Array(memory, 0, 2);
    this.#name = new Uint8Array(memory, COUNTS);
  }

  enter(flow: FlowOfThread): void {
    if (flow !== this.#named) this.#nameIt(flow);
    Atomics.add(this.#counts, 0, 1);
  }

  leave(): void {
    Atomics.add(this.#counts, 0, 1);
  }

  /** For the main thread: a number that is the same only as long as the same call runs; undefined while none does. */
  running(): number | undefined {
    const count = Atomics.load(this.#counts, 0);
    return count % 2 === 0 ? undefined : count;
  }

  /** For the main thread, while a call runs. */
  flow(): FlowOfThread {
    const length = Atomics.load(this.#counts, 1);
    // A TextDecoder does not read shared memory.
    const [workflowId = '', runId = '', workflowType = '', taskQueue = ''] = Buffer.from(this.#name.slice(0, length))
      .toString()
      .split('\n');
    return { workflowId, runId, workflowType, taskQueue };
  }

  #nameIt(flow: FlowOfThread): void {
    this.#named = flow;
    const bytes = Buffer.from([flow.workflowId, flow.runId, flow.workflowType, flow.taskQueue].join('\n')).subarray(
      0,
      LONGEST_NAME,
    );
    this.#name.set(bytes);
    Atomics.store(this.#counts, 1, bytes.length);
  }
}
