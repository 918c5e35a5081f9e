import { AsyncResource } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import FakeTimers from '@sinonjs/fake-timers';
import { replace } from './seeded.js';

export interface InstalledClock {
  readonly clock: FakeTimers.Clock;
  /** Calls back whenever a timer is set. */
  onTimer: () => void;
  uninstall(): void;
}

const FAKED = [
  'Date',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'performance',
] as const satisfies FakeTimers.FakeMethod[];

/**
 * Makes all code of this process live by one clock that stands still until it is moved: `Date`, timers, `performance.now`,
 * `node:timers`, `node:timers/promises` and `AbortSignal.timeout`, also for modules that imported them by name. Immediates,
 * microtasks and `nextTick` stay real, and so does what took a timer function aside earlier: the test runner.
 * @param startAt epoch ms
 */
export function installClock(startAt: number): InstalledClock {
  const clock = FakeTimers.install({ now: startAt, toFake: [...FAKED], loopLimit: Number.MAX_SAFE_INTEGER });
  const installed = {
    clock,
    onTimer: (): void => {},
    uninstall(): void {
      for (const undo of undos) undo();
      clock.uninstall();
      syncBuiltinESMExports();
    },
  };
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const set = clock[name].bind(clock);
    const noticing = (...given: Parameters<FakeTimers.Clock['setTimeout']>): FakeTimers.TimerId => {
      const [callback, ...others] = given;
      // As with Node's own timers: it runs in the asynchronous context of whoever set it.
      const context = new AsyncResource('VirtualTimer');
      const inContext = (...args: unknown[]): void => context.runInAsyncScope(callback as never, undefined, ...args);
      const timer = set(Object.assign(inContext, { of: callback }), ...others);
      installed.onTimer();
      return timer;
    };
    // fake-timers notes at its functions how they are to be put back.
    Object.assign(clock, { [name]: Object.assign(noticing, clock[name]) });
  }
  // That of fake-timers rejects with the signal's reason, where Node's has an error of its own.
  const undos = [replace(timersPromises, 'setTimeout', sleep), replace(AbortSignal, 'timeout', abortAfter)];
  syncBuiltinESMExports();
  return installed;
}

function sleep<T>(ms?: number, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(new AbortError(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve(value as T);
    }, ms);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

function abortAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  const error = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  setTimeout(() => controller.abort(error), ms);
  return controller.signal;
}

class AbortError extends Error {
  override readonly name = 'AbortError';
  readonly code = 'ABORT_ERR';

  constructor(cause: unknown) {
    super('The operation was aborted', { cause });
  }
}
