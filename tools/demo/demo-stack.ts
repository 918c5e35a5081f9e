import { setMaxListeners } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { HoldfastClient } from '../../src/client/index.js';
import { DIRECTLY } from '../../src/client/proxy.js';
import type { Config } from '../../src/config/index.js';
import { SandboxControl } from '../../sandbox/control.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import type { DemoContext } from './context.js';
import { OwnFaults, type FlowName, referencesOf } from './merchant.js';
import { EmbeddedWorld } from './embedded/world.js';

/** Everything that the demo flows use. */
export interface DemoStack {
  context: DemoContext;
  /** The client, as a business service uses it. */
  holdfast: HoldfastClient;
  /** For what only the demo needs: counting flows and waiting for their end. */
  temporal: Client;
  sandbox: SandboxControl;
  faults: OwnFaults;
  referenceOf: (name: FlowName) => string;
  /** The demo's one environment whose clock may be moved. Started at the first call. */
  embedded: () => Promise<EmbeddedWorld>;
  /** Stops what it has started. */
  close(): Promise<void>;
  /** Aborted when the stack is stopping or the demo takes too long. */
  signal: AbortSignal;
}

/** Connects to the stack's own server with its own keys, whatever Temporal variables the shell sets. */
export async function openDemoStack(context: DemoContext, config: Config, signal: AbortSignal): Promise<DemoStack> {
  const { address, namespace } = context.temporal;
  // Each running flow adds several listeners to the signal.
  setMaxListeners(0, signal);
  const connection = await Connection.connect({ address, channelArgs: DIRECTLY });
  const dataConverter = createDataConverter(config.keyRing);
  const temporal = new Client({ connection, namespace, dataConverter });
  const sandbox = new SandboxControl(context.sandbox.url);
  const holdfast = new HoldfastClient(temporal);
  let embedded: Promise<EmbeddedWorld> | undefined;
  return {
    context,
    holdfast,
    temporal,
    sandbox,
    faults: new OwnFaults(sandbox),
    referenceOf: referencesOf(Date.now()),
    embedded: () => (embedded ??= EmbeddedWorld.start({ context, connection, dataConverter, signal })),
    async close() {
      await (await embedded?.catch(() => undefined))?.stop();
      // An open call would retry on the closed connection, and its error would crash the process.
      if (!signal.aborted) await holdfast.close();
    },
    signal,
  };
}

/** Returns why the demo must not run here, or undefined. The demo charges cards, so it may only use its own sandbox. */
export function whyNotHere(config: Config, { sandbox }: DemoContext): string | undefined {
  if (new URL(config.apiBaseUrl).origin === new URL(sandbox.url).origin) return undefined;
  return (
    `the demo was not run: it works with the sandbox at ${sandbox.url} only, and HOLDFAST_API_BASE_URL names ` +
    `${config.apiBaseUrl}; unset it, or start with --no-demo`
  );
}
