import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Connection, isGrpcServiceError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { DEFAULT_UNIT, SandboxControl } from '../../../sandbox/control.js';
import { HoldfastClient } from '../../../src/client/index.js';
import { NAMESPACE_CACHE_MS } from '../../stack/dev-server.js';
import { prepareNamespace, RETENTION_DAYS } from '../../stack/namespace.js';
import { startReadyProcess, type ReadyProcess } from '../../stack/ready-process.js';
import type { DemoContext } from '../context.js';
import { orAborted } from '../or-aborted.js';
import { jumpWorkflow } from './jump-workflow.js';

const LOOK_EVERY_MS = 50;
const STOP_LIMIT_MS = 9_000;
/**
 * A jump ends this long before the wanted time, and so before the timer that is due then. If a jump ended while the
 * flow is working, the server (1.32.0) would continue to the next timer. Longer than a call takes on a busy machine,
 * because the jump counts from when the server receives it.
 */
const BEFORE_MS = 1_000;

interface Unit {
  appId: string;
  privateKey: string;
  publicKey: string;
  notifySecret: string;
}

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
  readonly businessUnit = 'embedded';
  readonly namespace: string;
  readonly sandbox: SandboxControl;
  readonly temporal: Client;
  readonly holdfast: HoldfastClient;
  /** Secret that signs its subscriptions' notifications to the merchant. */
  readonly notifySecret: string;
  readonly #unit: Unit;
  readonly #stop: () => Promise<void>;
  readonly #signal: AbortSignal;
  /** ms by which each flow's clock is ahead of the real time, by workflow id. */
  readonly #ahead = new Map<string, number>();

  private constructor(
    temporal: Client,
    sandboxUrl: string,
    unit: Unit,
    stop: () => Promise<void>,
    signal: AbortSignal,
  ) {
    this.temporal = temporal;
    this.namespace = temporal.options.namespace;
    this.holdfast = new HoldfastClient(temporal);
    this.sandbox = new SandboxControl(sandboxUrl);
    this.notifySecret = unit.notifySecret;
    this.#unit = unit;
    this.#stop = stop;
    this.#signal = signal;
  }

  /** @throws Error with the output of a process that is not ready in time */
  static async start({ context, connection, dataConverter, signal }: WorldOptions): Promise<EmbeddedWorld> {
    const namespace = `${context.temporal.namespace}-embedded`;
    const temporal = new Client({ connection, namespace, dataConverter });
    const unit = newUnit();
    const env = environmentOf(context, namespace, unit);
    const sandboxState = join(context.stateDir, 'embedded');
    const removeState = (): void => rmSync(sandboxState, { recursive: true, force: true });
    // Removes what a killed demo has left.
    removeState();
    const starting: Promise<ReadyProcess>[] = [];
    const serve = async (entry: string, own: NodeJS.ProcessEnv = {}): Promise<string> => {
      const service = startReadyProcess(`dist/${entry}`, { env: { ...env, ...own }, signal });
      starting.push(service);
      return (await service).url;
    };
    const stop = async (): Promise<void> => {
      const services = await Promise.allSettled(starting);
      await Promise.all(services.flatMap((one) => (one.status === 'fulfilled' ? [one.value.stop(STOP_LIMIT_MS)] : [])));
      removeState();
    };
    try {
      const [sandboxUrl, webhookUrl] = await Promise.all([
        serve('sandbox/main.js', { HOLDFAST_STATE_DIR: sandboxState }),
        serve('workers/webhook.js'),
        provideNamespace(connection, namespace).then(() => endOrphans(temporal)),
      ]);
      const { appId, privateKey, publicKey } = unit;
      const sandbox = new SandboxControl(sandboxUrl);
      await sandbox.putBusinessUnit({ app_id: appId, private_key: privateKey, public_key: publicKey });
      await sandbox.addWebhookEndpoint({ url: `${webhookUrl}/webhooks`, app_id: appId });
      await serve('workers/worker.js', { HOLDFAST_API_BASE_URL: sandboxUrl });
      return new EmbeddedWorld(temporal, sandboxUrl, unit, stop, signal);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  /** Tokenizes a card as a browser does, for this environment's business unit. */
  async tokenize(cardNumber: string): Promise<string> {
    return (await this.sandbox.tokenize({ cardNumber, publicKey: this.#unit.publicKey })).token;
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
    await this.#stop();
  }
}

function newUnit(): Unit {
  const key = (): string => randomBytes(24).toString('base64url');
  return { appId: 'holdfast-embedded', privateKey: key(), publicKey: key(), notifySecret: key() };
}

/** Environment of the stack's processes, without the keys of other business units and with free ports. */
function environmentOf({ env, temporal }: DemoContext, namespace: string, unit: Unit): NodeJS.ProcessEnv {
  const { notifySecret, ...embedded } = unit;
  const { HOLDFAST_BUSINESS_UNITS_FILE: _units, HOLDFAST_SANDBOX_WEBHOOK_URL: _webhook, ...rest } = env;
  return {
    ...rest,
    HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: DEFAULT_UNIT, embedded }),
    HOLDFAST_NOTIFY_SECRET: notifySecret,
    HOLDFAST_ENVIRONMENT: 'test',
    HOLDFAST_BIND_ADDRESS: '127.0.0.1',
    HOLDFAST_LOG_LEVEL: 'warn',
    HOLDFAST_SANDBOX_PORT: '0',
    HOLDFAST_WEBHOOK_PORT: '0',
    HOLDFAST_WEBHOOK_METRICS_PORT: '0',
    HOLDFAST_WORKER_METRICS_PORT: '0',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: namespace,
  };
}

const ALREADY_EXISTS = 6;

/** Creates the namespace if it doesn't exist. Resolves when it can be used. */
async function provideNamespace(connection: Connection, namespace: string): Promise<void> {
  try {
    const workflowExecutionRetentionPeriod = msToTs(`${RETENTION_DAYS} days`);
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    await sleep(NAMESPACE_CACHE_MS);
  } catch (error) {
    if (!isGrpcServiceError(error) || Number(error.code) !== ALREADY_EXISTS) throw error;
  }
  await prepareNamespace(connection, namespace);
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
