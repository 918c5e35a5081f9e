import { setMaxListeners } from 'node:events';
import { Client, Connection } from '@temporalio/client';
import { HoldfastClient } from '../../src/client/index.js';
import type { Config } from '../../src/config/index.js';
import { SandboxControl } from '../../sandbox/control.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import type { DemoContext } from './context.js';
import { OwnFaults } from './own-faults.js';
import type { FlowName } from './references.js';
import { referencesOf } from './references.js';
import { ThrowawayWorld } from './throwaway/world.js';

export type LedgerEntry = Awaited<ReturnType<SandboxControl['ledger']>>[number];

/** All that the flows of the demo work with. */
export interface Stage {
  context: DemoContext;
  /** What a business service uses. */
  holdfast: HoldfastClient;
  /** For what only a demo needs: counting flows, waiting for the end of one. */
  temporal: Client;
  sandbox: SandboxControl;
  faults: OwnFaults;
  referenceOf: (name: FlowName) => string;
  /** The one world of this demo whose clock may be moved; started when it is first asked for. */
  throwaway: () => Promise<ThrowawayWorld>;
  /** Ends what it has started. */
  close(): Promise<void>;
  /** Aborted when the stack is being stopped, or when the demo has taken too long. */
  signal: AbortSignal;
}

/** The stack's own server and keys, whatever the shell says about another Temporal. */
export async function openStage(context: DemoContext, config: Config, signal: AbortSignal): Promise<Stage> {
  const { address, namespace } = context.temporal;
  // Each flow that is under way listens to it, several times.
  setMaxListeners(0, signal);
  const connection = await Connection.connect({ address });
  const dataConverter = createDataConverter(config.keyRing);
  const temporal = new Client({ connection, namespace, dataConverter });
  const sandbox = new SandboxControl(context.sandbox.url);
  const holdfast = new HoldfastClient(temporal);
  let throwaway: Promise<ThrowawayWorld> | undefined;
  return {
    context,
    holdfast,
    temporal,
    sandbox,
    faults: new OwnFaults(sandbox),
    referenceOf: referencesOf(Date.now()),
    throwaway: () => (throwaway ??= ThrowawayWorld.start({ context, connection, dataConverter, signal })),
    async close() {
      await (await throwaway?.catch(() => undefined))?.stop();
      // A call that is still under way would try again on the closed connection, and that brings the process down.
      if (!signal.aborted) await holdfast.close();
    },
    signal,
  };
}

/** Why the demo must not run here, or undefined. It charges cards, so it never talks to anything but its sandbox. */
export function whyNotHere(config: Config, { sandbox }: DemoContext): string | undefined {
  if (new URL(config.apiBaseUrl).origin === new URL(sandbox.url).origin) return undefined;
  return (
    `the demo was not run: it works with the sandbox at ${sandbox.url} only, and HOLDFAST_API_BASE_URL names ` +
    `${config.apiBaseUrl}; unset it, or start with --no-demo`
  );
}
