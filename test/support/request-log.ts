import type { Dispatcher } from 'undici';

/** One request as it was handed to the network. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  /** Idempotency key. */
  readonly key: string | undefined;
  readonly body: string | undefined;
  /** Epoch ms on the engine's clock. */
  readonly at: number;
}

/** Every request of the provider client, noted where it leaves: whatever becomes of it, it is counted. */
export class RequestLog {
  readonly #sent: SentRequest[] = [];

  /** @param now epoch ms on the engine's clock */
  constructor(private readonly now: () => number) {}

  /** The dispatcher with everything noted that is sent through it. */
  noting(dispatcher: Dispatcher): Dispatcher {
    return dispatcher.compose((dispatch) => (options, handler) => {
      const headers = Object.entries((options.headers ?? {}) as Readonly<Record<string, string>>);
      const key = headers.find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1];
      const body = typeof options.body === 'string' ? options.body : undefined;
      this.#sent.push({ method: options.method, path: options.path, key, body, at: this.now() });
      return dispatch(options, handler);
    });
  }

  all(): readonly SentRequest[] {
    return this.#sent;
  }

  /** Every POST of one flow. */
  posts(reference: string): SentRequest[] {
    return this.#sent.filter(({ method, key }) => method === 'POST' && key?.startsWith(`payment-${reference}:`));
  }

  /** The POSTs of one flow that move money. */
  chargePosts(reference: string): SentRequest[] {
    return this.posts(reference).filter(({ path }) => path.endsWith('/charges'));
  }

  /** The POSTs to one payment by one kind of operation, whichever flow sent them: `captures`, `voids`. */
  operations(paymentId: string | undefined, kind: string): SentRequest[] {
    return this.#sent.filter(({ method, path }) => method === 'POST' && path === `/payments/${paymentId}/${kind}`);
  }

  /** The POSTs of one flow that create its payment. */
  paymentPosts(reference: string): SentRequest[] {
    return this.posts(reference).filter(({ path }) => path === '/payments');
  }

  /** Reads of one payment: of its list of charges and of each charge. */
  reads(paymentId: string | undefined): SentRequest[] {
    return this.#sent.filter(({ method, path }) => method === 'GET' && path.startsWith(`/payments/${paymentId}/`));
  }
}

/** ms between each request and the one before it. */
export function gaps(requests: readonly SentRequest[]): number[] {
  return requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? at));
}
