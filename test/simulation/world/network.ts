import { errors } from 'undici';
import type { AppReply, AppRequest, Serve } from './app-call.js';
import { calm, type NetworkStrategy, type Passage, type PassedRequest } from './strategies.js';

/** What a sender is told of its request. */
export interface Sender {
  /** The connection stands: from here on the request may have arrived. False keeps it from being sent. */
  sending(): boolean;
  answered(reply: AppReply): void;
  failed(error: Error): void;
}

/** `refusing`: nothing listens. A number: everything is answered with this status, as by a proxy before it. */
export type HostState = 'up' | 'refusing' | number;

/** Where requests to one origin arrive. May be changed at any time. */
export interface Host {
  serve: Serve;
  state: HostState;
}

/**
 * All traffic between the parts of a simulated world. Its strategy decides for each request:
 * `deliver`: arrives and is answered. `refuseConnection`: fails before anything is sent. `loseRequest`: never arrives, the
 * connection is reset. `dropReply`: arrives and acts, then the connection breaks. `duplicate`: arrives twice, and the
 * sender gets the first answer. What is on its way arrives, whatever becomes of its sender.
 */
export class Network {
  /** Everything that was sent, in that order. */
  readonly passed: PassedRequest[] = [];
  readonly #hosts = new Map<string, Host>();
  #sent = 0;

  /** @param elsewhere who answers at every address that nobody is attached to; nobody if absent */
  constructor(
    public strategy: NetworkStrategy = calm,
    private readonly elsewhere?: Serve,
  ) {}

  /** @param origin such as `http://sandbox.test`; replaces what was there */
  attach(origin: string, serve: Serve): Host {
    const host: Host = { serve, state: 'up' };
    this.#hosts.set(origin, host);
    return host;
  }

  detach(origin: string): void {
    this.#hosts.delete(origin);
  }

  /** Forgets what has passed, for a world that lives long. */
  forget(): void {
    this.passed.length = 0;
  }

  send(from: string, to: string, request: AppRequest, sender: Sender): void {
    const passed = this.#note(from, to, request);
    const passage = this.strategy(passed);
    passed.fate = passage.fate;
    const fail = (error: Error & { code?: string }): void => {
      passed.outcome = error.code ?? error.name;
      sender.failed(error);
    };
    const up = this.#hostAt(to);
    if (passage.fate === 'refuseConnection' || up === undefined || up.state === 'refusing') {
      setTimeout(() => fail(connectionRefused(to)), passage.requestDelayMs);
      return;
    }
    if (!sender.sending()) return;
    if (passage.fate === 'loseRequest') {
      setTimeout(() => fail(connectionReset()), passage.requestDelayMs + passage.replyDelayMs);
      return;
    }
    setTimeout(() => {
      this.#arrive(passed, request, (outcome) => {
        setTimeout(() => {
          if ('error' in outcome || passage.fate === 'dropReply')
            return fail('error' in outcome ? outcome.error : hungUp());
          passed.outcome = outcome.reply.status;
          sender.answered(outcome.reply);
        }, passage.replyDelayMs);
      });
      if (passage.fate === 'duplicate') this.#repeat(passed, request, passage);
    }, passage.requestDelayMs);
  }

  #hostAt(origin: string): Host | undefined {
    const { elsewhere } = this;
    return this.#hosts.get(origin) ?? (elsewhere && this.attach(origin, elsewhere));
  }

  #note(from: string, to: string, { method, path, headers, body }: AppRequest): PassedRequest {
    const key = headers['idempotency-key'];
    const passed: PassedRequest = {
      number: (this.#sent += 1),
      from,
      to,
      method,
      path,
      key: typeof key === 'string' ? key : undefined,
      body: body?.toString(),
      at: Date.now(),
      fate: undefined,
      arrivedAt: [],
      outcome: undefined,
    };
    this.passed.push(passed);
    return passed;
  }

  #repeat(passed: PassedRequest, request: AppRequest, { repeatAfterMs, replyDelayMs }: Passage): void {
    setTimeout(() => this.#arrive(passed, request, () => {}), repeatAfterMs ?? replyDelayMs);
  }

  #arrive(passed: PassedRequest, request: AppRequest, answer: (outcome: Outcome) => void): void {
    const host = this.#hostAt(passed.to);
    // Whoever was there when the connection was made has gone since.
    if (host === undefined || host.state === 'refusing') return answer({ error: connectionReset() });
    passed.arrivedAt.push(Date.now());
    if (typeof host.state === 'number') return answer({ reply: proxyReply(host.state) });
    const { serve } = host;
    serve(request).then(
      // A server that was replaced meanwhile died with the connection.
      (reply) => answer(host.serve === serve && host.state !== 'refusing' ? { reply } : { error: hungUp() }),
      () => answer({ error: hungUp() }),
    );
  }
}

type Outcome = { reply: AppReply } | { error: Error };

function proxyReply(status: number): AppReply {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"error":"unavailable"}') };
}

function connectionRefused(to: string): Error {
  return Object.assign(new Error(`connect ECONNREFUSED ${to}`), { code: 'ECONNREFUSED', syscall: 'connect' });
}

function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
}

function hungUp(): Error {
  return new errors.SocketError('other side closed');
}
