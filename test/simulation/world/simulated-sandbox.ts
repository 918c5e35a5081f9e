import type { Dispatcher } from 'undici';
import type { ControlFetch } from '../../../sandbox/control.js';
import { createSandbox, type EmbeddedSandbox } from '../../../sandbox/server.js';
import type { Settings } from '../../../sandbox/settings.js';
import { MemoryStorage } from '../../../sandbox/storage.js';
import { type AppReply, type AppRequest, type Serve, serveBy } from './app-call.js';
import type { HostState, Network } from './network.js';

export interface SimulatedSandboxOptions {
  network: Network;
  url: string;
  /** What its events are sent through, reauthorized for each run of it. */
  connect: () => Dispatcher & { kill(): void };
  random: () => number;
  /** Registered at boot. */
  webhookUrl: string | undefined;
  settings: Partial<Settings>;
}

/** The emulated payment service in this process, with its state in memory. */
export class SimulatedSandbox {
  readonly url: string;
  /** How what comes over the network is answered, for a test in which reads lag. */
  through: (request: AppRequest, serve: Serve) => Promise<AppReply> = (request, serve) => serve(request);
  readonly #options: SimulatedSandboxOptions;
  #storage = new MemoryStorage();
  #running: EmbeddedSandbox;
  #dispatcher: Dispatcher & { kill(): void };
  #serve: Serve;
  #setState: (state: HostState) => void = () => {};

  constructor(options: SimulatedSandboxOptions) {
    this.url = options.url;
    this.#options = options;
    [this.#running, this.#dispatcher, this.#serve] = this.#start();
  }

  /** Resolves once it can be asked. */
  async ready(): Promise<void> {
    await this.#running.app.ready();
    this.#running.resume(this.url);
  }

  /** An outage as its callers see it, and its end. */
  serve(state: HostState): void {
    this.#setState(state);
  }

  /** As SIGKILL and a start on the same state do: whatever was answered is kept, requests under way are cut off. */
  async restart(): Promise<void> {
    this.serve('refusing');
    this.#dispatcher.kill();
    this.#storage = this.#storage.handOver();
    const before = this.#running;
    [this.#running, this.#dispatcher, this.#serve] = this.#start();
    await before.close();
    await this.ready();
  }

  /** For `SandboxControl`: asks it directly, past the network and whatever state it is in; no time passes. */
  readonly control: ControlFetch = async (url, { method, headers, body }) => {
    const { pathname, search } = new URL(url);
    const reply = await this.#serve({
      method,
      path: `${pathname}${search}`,
      headers,
      body: body === undefined ? undefined : Buffer.from(body),
    });
    return {
      ok: reply.status >= 200 && reply.status < 300,
      status: reply.status,
      text: () => Promise.resolve(reply.body.toString()),
    };
  };

  async close(): Promise<void> {
    this.#dispatcher.kill();
    this.#options.network.detach(this.url);
    await this.#running.close();
  }

  #start(): [EmbeddedSandbox, Dispatcher & { kill(): void }, Serve] {
    const { network, connect, random, webhookUrl, settings } = this.#options;
    const dispatcher = connect();
    const sandbox = createSandbox({
      storage: this.#storage,
      dispatcher,
      random,
      settings,
      ...(webhookUrl !== undefined && { webhookUrl }),
    });
    const serve = serveBy(sandbox.app, new URL(this.url).host);
    const host = network.attach(this.url, (request) => this.through(request, serve));
    this.#setState = (state) => {
      host.state = state;
    };
    return [sandbox, dispatcher, serve];
  }
}
