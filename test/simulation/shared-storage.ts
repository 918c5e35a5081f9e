import asyncHooks from 'node:async_hooks';

const RealStorage = asyncHooks.AsyncLocalStorage;

/** What each storage holds, in one asynchronous context. Never changed: each change makes another. */
type Frame = ReadonlyMap<object, unknown>;

/** The one storage of the process that all others live in. */
const frames = new RealStorage<Frame>();

/**
 * Node 20 visits every storage of the process at every new promise, and each flow in memory has three: a thousand flows
 * make the promises of all of them a thousand times dearer. These share one.
 */
export class SharedStorage<T> {
  #isDisabled = false;

  getStore(): T | undefined {
    return this.#isDisabled ? undefined : (frames.getStore()?.get(this) as T | undefined);
  }

  run<R, A extends unknown[]>(store: T, callback: (...args: A) => R, ...args: A): R {
    this.#isDisabled = false;
    return frames.run(this.#with(store), callback, ...args);
  }

  exit<R, A extends unknown[]>(callback: (...args: A) => R, ...args: A): R {
    return frames.run(this.#with(undefined), callback, ...args);
  }

  enterWith(store: T): void {
    this.#isDisabled = false;
    frames.enterWith(this.#with(store));
  }

  disable(): void {
    this.#isDisabled = true;
  }

  #with(store: T | undefined): Frame {
    return new Map(frames.getStore()).set(this, store);
  }
}

/** What `run` begins sees nothing of what its caller's storages hold, as if another process had begun it. */
export function inOwnContext<T>(run: () => T): T {
  return frames.run(new Map(), run);
}

/** While `make` runs, whoever derives from Node's storage derives from the shared one. */
export async function withSharedStorage<T>(make: () => Promise<T>): Promise<T> {
  const hooks = asyncHooks as { AsyncLocalStorage: unknown };
  hooks.AsyncLocalStorage = SharedStorage;
  try {
    return await make();
  } finally {
    hooks.AsyncLocalStorage = RealStorage;
  }
}
