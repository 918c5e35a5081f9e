/**
 * Loaded into a workflow thread before the SDK. The SDK takes a call stack at every promise of a workflow, and has a
 * watchdog thread started for every call into one: more than half of a worker's CPU (docs/decisions/0015). This leaves
 * both out; `watch-threads.ts` looks for endless loops instead.
 */
import v8 from 'node:v8';
import vm, { type Context, type RunningScriptOptions } from 'node:vm';
import { isMainThread, workerData } from 'node:worker_threads';
import { type FlowOfThread, ThreadNotes, type ThreadSettings } from './thread-notes.js';

/** As the SDK calls into a workflow: who it is for, what is called, and with what. */
type Call = readonly [flow: object, name: string, args: readonly { info?: FlowOfThread }[]];

if (!isMainThread) {
  const { notes, callStacks, limited } = workerData as ThreadSettings;
  if (!callStacks) leaveOutCallStacks();
  leaveOutTheWatchdog(new ThreadNotes(notes), new Set(limited));
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

/** @param limited ids of flows that looped before: they run under the SDK's own time limit */
function leaveOutTheWatchdog(notes: ThreadNotes, limited: ReadonlySet<string>): void {
  const script = vm.Script.prototype as { runInContext: RunInContext };
  const { runInContext } = script;
  const flows = new WeakMap<object, FlowOfThread>();
  script.runInContext = function (context, options = {}) {
    const [key, name, args] = (context['__temporal_args'] ?? []) as Partial<Call>;
    const info = name === 'initRuntime' ? args?.[0]?.info : undefined;
    if (key !== undefined && info !== undefined) flows.set(key, info);
    const flow = key === undefined ? undefined : flows.get(key);
    if (flow !== undefined && limited.has(flow.workflowId)) return runInContext.call(this, context, options);
    const { timeout: _leftOut, ...others } = options;
    notes.enter(flow);
    try {
      return runInContext.call(this, context, others);
    } finally {
      notes.leave();
    }
  };
}
