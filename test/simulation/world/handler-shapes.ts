import type { Dispatcher } from 'undici';
import type { AppReply } from './app-call.js';

/** What a dispatcher tells of one request, in either of the two shapes that undici's handlers have. */
export interface Telling {
  started(): void;
  answered(reply: AppReply): void;
  failed(error: Error): void;
}

/** @param abort what the handler may call to give the request up */
export function tell(handler: Dispatcher.DispatchHandler, abort: (reason: Error) => void): Telling {
  return handler.onRequestStart === undefined ? tellOld(handler, abort) : tellNew(handler, abort);
}

function tellNew(handler: Dispatcher.DispatchHandler, abort: (reason: Error) => void): Telling {
  const controller = new Controller(abort);
  return {
    started: () => handler.onRequestStart?.(controller, {}),
    answered({ status, headers, body }) {
      controller.rawHeaders = rawHeaders(headers);
      handler.onResponseStart?.(controller, status, { ...headers });
      if (!controller.aborted && body.length > 0) handler.onResponseData?.(controller, body);
      if (!controller.aborted) handler.onResponseEnd?.(controller, {});
    },
    failed: (error) => handler.onResponseError?.(controller, error),
  };
}

function tellOld(handler: Dispatcher.DispatchHandler, abort: (reason: Error) => void): Telling {
  let aborted = false;
  const giveUp = (reason?: Error): void => {
    aborted = true;
    abort(reason ?? new Error('aborted'));
  };
  return {
    started: () => handler.onConnect?.(giveUp),
    answered({ status, headers, body }) {
      handler.onHeaders?.(status, rawHeaders(headers), () => {}, '');
      if (!aborted && body.length > 0) handler.onData?.(body);
      if (!aborted) handler.onComplete?.([]);
    },
    failed: (error) => handler.onError?.(error),
  };
}

class Controller implements Dispatcher.DispatchController {
  aborted = false;
  reason: Error | null = null;
  paused = false;
  rawHeaders: Buffer[] | null = null;
  rawTrailers: Buffer[] | null = null;

  constructor(private readonly onAbort: (reason: Error) => void) {}

  // An answer is there as a whole, and a reader keeps what it can't take in yet.
  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.onAbort(reason);
  }
}

function rawHeaders(headers: AppReply['headers']): Buffer[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => [Buffer.from(name, 'latin1'), Buffer.from(one, 'latin1')]),
  );
}
