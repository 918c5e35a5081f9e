import { Dispatcher, errors } from 'undici';
import type { AppRequest } from './app-call.js';
import { tell, type Telling } from './handler-shapes.js';
import type { Network } from './network.js';

/**
 * An undici dispatcher whose requests go over a simulated network. Each simulated process has one of its own, so that
 * the process can be killed.
 */
export class NetworkDispatcher extends Dispatcher {
  readonly #under = new Set<Telling>();
  #state: 'open' | 'killed' | 'closed' = 'open';
  #idle: (() => void)[] = [];

  /** @param from who sends, as the network's strategy and its list name it */
  constructor(
    private readonly network: Network,
    readonly from: string,
  ) {
    super();
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    // What a dead process has left running in this one is neither sent nor answered.
    if (this.#state === 'killed') return false;
    const telling = tell(handler, (reason) => {
      if (this.#end(telling)) queueMicrotask(() => telling.failed(reason));
    });
    if (this.#state === 'closed') {
      queueMicrotask(() => telling.failed(new errors.ClientClosedError()));
      return false;
    }
    this.#under.add(telling);
    const headers = headersOf(options.headers);
    const fail = (error: Error): void => {
      if (this.#end(telling)) telling.failed(error);
    };
    const send = (body: Buffer | undefined): void => {
      const { method, origin } = options;
      const request: AppRequest = { method, path: pathOf(options), headers, body };
      this.network.send(this.from, new URL(String(origin)).origin, request, {
        sending: () => {
          telling.started();
          return this.#under.has(telling);
        },
        answered: (reply) => {
          if (this.#end(telling)) telling.answered(reply);
        },
        failed: fail,
      });
    };
    const { body } = options;
    if (isStream(body)) void collect(body).then(send, fail);
    else send(bytesOf(body));
    return true;
  }

  /** As SIGKILL does: nothing that is under way is answered any more, and nothing more is sent; what was sent arrives. */
  kill(): void {
    this.#state = 'killed';
    this.#under.clear();
  }

  override close(callback?: () => void): Promise<void> & void;
  override async close(callback?: () => void): Promise<void> {
    if (this.#state === 'open') this.#state = 'closed';
    if (this.#under.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    callback?.();
  }

  override destroy(...given: unknown[]): Promise<void> & void;
  override async destroy(...given: unknown[]): Promise<void> {
    if (this.#state === 'open') this.#state = 'closed';
    const error = given.find((one) => one instanceof Error) ?? new errors.ClientDestroyedError();
    for (const telling of this.#under) if (this.#end(telling)) telling.failed(error);
    const callback = given.find((one): one is () => void => typeof one === 'function');
    callback?.();
  }

  /** False when it is over already: the answer comes too late. */
  #end(telling: Telling): boolean {
    const ended = this.#under.delete(telling);
    if (this.#under.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    return ended;
  }
}

function pathOf({ path, query }: Dispatcher.DispatchOptions): string {
  if (query === undefined || Object.keys(query).length === 0) return path;
  return `${path}?${new URLSearchParams(query as Record<string, string>).toString()}`;
}

/** All shapes that undici takes: an object, names and values in turn, pairs. */
function headersOf(given: Dispatcher.DispatchOptions['headers']): AppRequest['headers'] {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of pairsOf(given)) {
    if (value === undefined || value === null) continue;
    const before = headers[name.toLowerCase()];
    const values = [...(before === undefined ? [] : [before]), value as string | string[]].flat().map(String);
    headers[name.toLowerCase()] = values.length === 1 ? (values[0] ?? '') : values;
  }
  return headers;
}

function pairsOf(given: Dispatcher.DispatchOptions['headers']): Iterable<[string, unknown]> {
  if (given === undefined || given === null) return [];
  if (Array.isArray(given)) {
    return given.flatMap((name, index): [string, unknown][] =>
      index % 2 === 0 ? [[String(name), given[index + 1]]] : [],
    );
  }
  return Symbol.iterator in given ? (given as Iterable<[string, unknown]>) : Object.entries(given);
}

function isStream(body: unknown): body is AsyncIterable<Uint8Array | string> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

async function collect(body: AsyncIterable<Uint8Array | string>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

/** @throws InvalidArgumentError for a form */
function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body);
  throw new errors.InvalidArgumentError('the simulated network takes texts, bytes and streams only');
}
