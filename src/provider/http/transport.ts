import type { Dispatcher } from 'undici';
import { codeOfError } from './errors.js';

/** The raw answer to one HTTP request. */
export interface RawAnswer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The received bytes, even of an incomplete answer. */
  body: Buffer;
}

/** The result of one HTTP request. `fault` is absent when the answer is complete. */
export interface Exchange {
  answer?: RawAnswer;
  /** A fault code of `errors.ts`. */
  fault?: string;
  /** False proves that the request was never written to a socket. */
  sendingBegan: boolean;
}

interface RawRequest {
  origin: string;
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

interface ExchangeLimits {
  /** Time limit in ms of the whole call, including connecting and reading the body. */
  timeoutMs: number;
  maxBodyBytes: number;
  signal?: AbortSignal | undefined;
}

/**
 * Sends one request at most once and never rejects.
 *
 * Uses the dispatcher's handler instead of `request()` because only the handler reports when a request reaches a
 * socket: `onRequestStart` runs right before the first byte is written. Before it, no byte can have left; after it, any
 * may have. A second `onRequestStart` means that the dispatcher retries, which could move money twice, so it is
 * stopped.
 */
export function exchange(dispatcher: Dispatcher, request: RawRequest, limits: ExchangeLimits): Promise<Exchange> {
  return new Promise((resolve) => {
    let sendingBegan = false;
    let over = false;
    let controller: Dispatcher.DispatchController | undefined;
    let head: Omit<RawAnswer, 'body'> | undefined;
    const chunks: Buffer[] = [];
    let size = 0;

    const end = (fault?: string): void => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      limits.signal?.removeEventListener('abort', onAbort);
      resolve({
        sendingBegan,
        ...(fault === undefined ? {} : { fault }),
        ...(head === undefined ? {} : { answer: { ...head, body: Buffer.concat(chunks) } }),
      });
    };
    const stop = (fault: string): void => {
      end(fault);
      controller?.abort(new Error(fault));
    };
    const onAbort = (): void => stop('ABORTED');
    const timer = setTimeout(() => stop('CALL_LIMIT'), limits.timeoutMs);

    if (limits.signal?.aborted === true) {
      end('ABORTED');
      return;
    }
    limits.signal?.addEventListener('abort', onAbort, { once: true });

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        if (over || sendingBegan) {
          end('SENT_TWICE');
          started.abort(new Error('not sent'));
          return;
        }
        sendingBegan = true;
        controller = started;
      },
      onResponseStart(_controller, status, headers) {
        if (status >= 200) head = { status, headers };
      },
      onResponseData(_controller, chunk) {
        size += chunk.length;
        if (size > limits.maxBodyBytes) stop('BODY_TOO_LARGE');
        else chunks.push(chunk);
      },
      onResponseEnd() {
        end(head === undefined ? 'UNKNOWN' : undefined);
      },
      onResponseError(_controller, error) {
        end(codeOfError(error));
      },
    };
    try {
      // Disable undici's own time limits: ours covers the whole call.
      dispatcher.dispatch({ ...request, idempotent: false, headersTimeout: 0, bodyTimeout: 0 }, handler);
    } catch (error) {
      end(codeOfError(error));
    }
  });
}
