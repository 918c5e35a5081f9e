import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { SandboxControl } from '../../../sandbox/control.js';
import { HoldfastClient } from '../../../src/client/index.js';
import { NAMESPACE_CACHE_MS } from '../../stack/dev-server.js';
import { prepareNamespace } from '../../stack/namespace.js';
import { startServices, type Services } from '../../stack/services.js';
import type { DemoContext } from '../context.js';
import { orAborted } from '../or-aborted.js';
import { jumpWorkflow } from './jump-workflow.js';

const UNIT = 'embedded';
const LOOK_EVERY_MS = 50;
const STOP_LIMIT_MS = 9_000;
/**
 * A jump ends this long before the wanted time, and so before the timer that is due then. If a jump ended while the
 * flow is working, the server (1.32.0) would continue to the next timer. Longer than a call takes on a busy machine,
 * because the jump counts from when the server receives it.
 */
const BEFORE_MS = 1_000;

export interface WorldOptions {
  context: DemoContext;
  /** Closed by the caller. */
  connection: Connection;
  dataConverter: DataConverter;
  signal: AbortSignal;
}

/**
 * An embedded environment in which a flow's time can be skipped: a sandbox whose clock no other flow uses, with its own
 * webhook handler, worker, business unit and namespace. It is stopped with the demo; the flow's history remains.
 */
export class EmbeddedWorld {
  /** `businessUnit` of its flows. */
  readonly businessUnit = UNIT;
  readonly namespace: string;
  readonly sandbox: SandboxControl;
  readonly temporal: Client;
  readonly holdfast: HoldfastClient;
  /** Secret that signs its subscriptions' notifications to the merchant. */
  readonly notifySecret: string;
  readonly #publicKey: string;
  readonly #services: Services;
  readonly #signal: AbortSignal;
  /** ms by which each flow's clock is ahead of the real time, by workflow id. */
  readonly #ahead = new Map<string, number>();

  private constructor(
    temporal: Client,
    { unit, notifySecret }: ReturnType<typeof newUnit>,
    services: Services,
    signal: AbortSignal,
  ) {
    this.temporal = temporal;
    this.namespace = temporal.options.namespace;
    this.holdfast = new HoldfastClient(temporal);
    this.sandbox = services.sandbox;
    this.notifySecret = notifySecret;
    this.#publicKey = unit.publicKey;
    this.#services = services;
    this.#signal = signal;
  }

  /** @throws Error with the output of a process that is not ready in time */
  static async start({ context, connection, dataConverter, signal }: WorldOptions): Promise<EmbeddedWorld> {
    const namespace = `${context.temporal.namespace}-embedded`;
    const temporal = new Client({ connection, namespace, dataConverter });
    const own = newUnit();
    // The business units of the demo's own stack have no place here.
    const { HOLDFAST_BUSINESS_UNITS_FILE: _units, HOLDFAST_SANDBOX_WEBHOOK_URL: _webhook, ...env } = context.env;
    if (await prepareNamespace(connection, namespace)) await sleep(NAMESPACE_CACHE_MS);
    await endOrphans(temporal);
    const services = await startServices({
      engine: { address: context.temporal.address, namespace },
      stateDir: join(context.stateDir, 'embedded'),
      units: [own.unit],
      env: {
        ...env,
        HOLDFAST_NOTIFY_SECRET: own.notifySecret,
        HOLDFAST_NOTIFY_HOSTS: '127.0.0.1',
        HOLDFAST_NOTIFY_PRIVATE: '1',
        HOLDFAST_BIND_ADDRESS: '127.0.0.1',
      },
      signal,
    });
    return new EmbeddedWorld(temporal, own, services, signal);
  }

  /** Tokenizes a card as a browser does, for this environment's business unit. */
  async tokenize(cardNumber: string): Promise<string> {
    return (await this.sandbox.tokenize({ cardNumber, publicKey: this.#publicKey })).token;
  }

  /**
   * Moves the clocks of the sandbox and of one flow forward to the same time. Waits until every webhook is delivered,
   * because one that is still pending would arrive days late. The first jump of a flow that started after another
   * flow's jumps also catches up with the sandbox.
   * @param at epoch ms by these clocks; reached a moment after the jump
   * @returns ms by which the flow's clock has moved
   */
  async jumpTo(workflowId: string, at: number): Promise<number> {
    while ((await orAborted(this.sandbox.deliveries({ status: 'pending' }), this.#signal)).length > 0) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: this.#signal });
    }
    // The sandbox's clock moves first: the flow calls the service as soon as it wakes, and both clocks must agree then.
    await this.sandbox.advanceClock(at - BEFORE_MS - (await this.now()));
    const ahead = this.#ahead.get(workflowId) ?? 0;
    const ms = at - BEFORE_MS - (Date.now() + ahead);
    await orAborted(jumpWorkflow(this.temporal, workflowId, ms), this.#signal);
    this.#ahead.set(workflowId, ahead + ms);
    return ms;
  }

  /** Epoch ms by the sandbox's clock. */
  async now(): Promise<number> {
    return Date.parse((await this.sandbox.health()).now);
  }

  async stop(): Promise<void> {
    await this.#services.close(STOP_LIMIT_MS);
  }
}

function newUnit() {
  const key = (): string => randomBytes(24).toString('base64url');
  const unit = { name: UNIT, appId: 'holdfast-embedded', privateKey: key(), publicKey: key(), profile: {} };
  return { unit, notifySecret: `whsec_${randomBytes(32).toString('base64')}` };
}

/** Terminates flows that an aborted demo has left open. Their service has stopped, so they could not end otherwise. */
async function endOrphans({ workflow }: Client): Promise<void> {
  for await (const { workflowId } of workflow.list({ query: 'ExecutionStatus = "Running"' })) {
    const reason = 'The embedded sandbox of the demo, where its money was held, is gone';
    await workflow
      .getHandle(workflowId)
      .terminate(reason)
      .catch(() => undefined);
  }
}
