/**
 * What a workflow thread of our worker program runs first, before the SDK's own file. The SDK takes a call stack at every
 * promise of a workflow, and has a watchdog thread started for every call into one (docs/decisions/0015). This leaves both
 * out; `watch-threads.ts` looks for endless loops instead.
 */
import { createRequire } from 'node:module';
import v8 from 'node:v8';
import vm, { type Context, type RunningScriptOptions } from 'node:vm';
import { isMainThread, workerData } from 'node:worker_threads';
import { type FlowOfThread, ThreadRecord, type ThreadSettings } from './thread-record.js';

/** What the SDK tells a flow when it is made in this thread. */
interface MadeFlow extends FlowOfThread {
  /** Events up to its present task. */
  historyLength: number;
}
/** As the SDK calls into a workflow: who it is for, what is called, and with what. */
type Call = readonly [flow: object, name: string, args: readonly { info?: MadeFlow }[]];

/** Started, scheduled, begun: more events than that at the first task in this thread, and it was tried or replayed. */
const FRESH = 3;

if (!isMainThread) {
  const { main, memory, callStacks, limited } = workerData as ThreadSettings;
  if (!callStacks) leaveOutCallStacks();
  if (!limited) leaveOutTheWatchdog(new ThreadRecord(memory));
  createRequire(import.meta.url)(main);
}

type CreateHook = (callbacks: Partial<v8.HookCallbacks>) => ReturnType<typeof v8.promiseHooks.createHook>;

/**
 * The SDK then answers the query for a call stack with an empty one. Only its own hook is left out: Node's
 * AsyncLocalStorage, on which cancellation and the ids of updates depend, has one too.
 */
function leaveOutCallStacks(): void {
  const hooks = v8.promiseHooks as { createHook: CreateHook };
  const { createHook } = hooks;
  hooks.createHook = (callbacks) => {
    if (!new Error('who calls').stack?.includes('GlobalHandlers.setPromiseHook')) return createHook(callbacks);
    hooks.createHook = createHook;
    return () => undefined;
  };
}

type RunInContext = (this: vm.Script, context: Context, options?: RunningScriptOptions) => unknown;

/**
 * A flow keeps the SDK's time limit unless its first task came to this thread: one that loops is tried again elsewhere, and
 * fails there as the SDK has it, so that it costs one restart of one worker.
 */
function leaveOutTheWatchdog(record: ThreadRecord): void {
  const script = vm.Script.prototype as { runInContext: RunInContext };
  const { runInContext } = script;
  const fresh = new WeakMap<object, FlowOfThread>();
  script.runInContext = function (context, options = {}) {
    const [key, name, args] = (context['__temporal_args'] ?? []) as Partial<Call>;
    const made = name === 'initRuntime' ? args?.[0]?.info : undefined;
    if (key !== undefined && made !== undefined && made.historyLength <= FRESH) fresh.set(key, made);
    const flow = key === undefined ? undefined : fresh.get(key);
    if (flow === undefined) return runInContext.call(this, context, options);
    const { timeout: _leftOut, ...others } = options;
    record.enter(flow);
    try {
      return runInContext.call(this, context, others);
    } finally {
      record.leave();
    }
  };
}
