import { SharedStorage } from '../shared-storage.js';
import type { Engine } from './engine.js';
import { GRPC, GrpcError } from './shapes.js';
import { workflowService } from './service.js';

/** gRPC codes that the SDK's own interceptor tries again: UNKNOWN, RESOURCE_EXHAUSTED, ABORTED, UNAVAILABLE. */
const TRIED_AGAIN = new Set<number>([2, GRPC.resourceExhausted, 10, GRPC.unavailable]);
const MOST_TRIES = 10;

/** A caller's process: once it is dead it is told and sends nothing any more. */
export interface Caller {
  readonly isAlive: boolean;
}

/**
 * What a Temporal client takes for its connection. Every call takes the engine's time there and back, keeps the caller's
 * deadline, and fails with UNAVAILABLE while the engine is down; then it is tried again as the SDK does.
 */
export function connectTo(engine: Engine, caller: Caller = { isAlive: true }, onCall: () => void = () => undefined) {
  const service = workflowService(engine) as unknown as Record<string, (request: object) => Promise<object>>;
  const deadlines = new SharedStorage<number>();

  async function call(method: string, request: object): Promise<object> {
    const until = deadlines.getStore() ?? Number.POSITIVE_INFINITY;
    onCall();
    for (let tries = 1; ; tries += 1) {
      try {
        return await withinDeadline(until, () => once(method, request));
      } catch (error) {
        if (!(error instanceof GrpcError) || !TRIED_AGAIN.has(error.code) || tries >= MOST_TRIES) throw error;
        const first = error.code === GRPC.resourceExhausted ? 1_000 : 100;
        await withinDeadline(until, () => pause(Math.min(5_000, 1.7 ** tries * first)));
      }
    }
  }

  async function once(method: string, request: object): Promise<object> {
    await pause(engine.latency('call'));
    if (!caller.isAlive) return await never();
    if (!engine.isUp) throw new GrpcError(GRPC.unavailable, 'the engine does not answer');
    const serve = service[method];
    if (serve === undefined) throw new Error(`the simulated engine does not know the call ${method}`);
    try {
      return await serve(request);
    } finally {
      await pause(engine.latency('reply'));
      if (!caller.isAlive) await never();
    }
  }

  return {
    workflowService: new Proxy({} as Record<string, unknown>, {
      get: (_target, method: string) => (request: object) => call(method, request),
    }),
    operatorService: {},
    plugins: [],
    async ensureConnected() {},
    async close() {},
    withDeadline: <R>(deadline: number | Date, run: () => Promise<R>): Promise<R> =>
      deadlines.run(Math.min(Number(deadline), deadlines.getStore() ?? Infinity), run),
    withMetadata: <R>(_metadata: unknown, run: () => Promise<R>): Promise<R> => run(),
    withAbortSignal: unlessAborted,
  };
}

async function withinDeadline<R>(until: number, run: () => Promise<R>): Promise<R> {
  if (until === Number.POSITIVE_INFINITY) return await run();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const left = until - Date.now();
    const end = (): void => reject(new GrpcError(GRPC.deadlineExceeded, 'Deadline exceeded'));
    timer = setTimeout(end, Math.max(0, Math.min(left, 2_000_000_000)));
  });
  const work = run();
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The call goes on at the engine; the caller is told that it was cancelled. */
async function unlessAborted<R>(signal: AbortSignal, run: () => Promise<R>): Promise<R> {
  let cancel: (() => void) | undefined;
  const cancelled = new Promise<never>((_resolve, reject) => {
    cancel = () => reject(new GrpcError(GRPC.cancelled, 'Cancelled on client'));
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
  });
  const work = run();
  work.catch(() => undefined);
  try {
    return await Promise.race([work, cancelled]);
  } finally {
    if (cancel !== undefined) signal.removeEventListener('abort', cancel);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const never = (): Promise<never> => new Promise(() => undefined);
