import { Client, Connection } from '@temporalio/client';
import { HoldfastClient } from '../../src/client/index.js';
import { DIRECTLY } from '../../src/client/proxy.js';
import { SandboxControl } from '../../sandbox/control.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import { webhookEndpoint } from '../stack/ready-process.js';
import { hostAndPort, urlOf } from '../stack/settings.js';
import { connectWhenReady } from '../stack/dev-server.js';
import type { ChaosArguments } from './arguments.js';
import { Killer } from './kills.js';
import { Campaign } from './campaign.js';
import type { ChaosStack } from './chaos-stack.js';
import { addUnits } from '../stack/profile-units.js';
import { scenariosOf } from './scenarios/scenarios.js';
import { settle, Load } from './load.js';
import { type Evidence, WebhookCounts } from './summary.js';

const PROGRESS_EVERY_MS = 10_000;
const STOPPING =
  'Stopping: no more faults and flows; what was asked for is brought to its end. Ctrl-C again kills everything.';

/** Runs the campaign on a booted stack: flows under faults, then settling and the audit. */
export async function runCampaign(
  { stack, settings, config, units, askedUnits }: ChaosStack,
  args: ChaosArguments,
  signal: AbortSignal,
  print: (line: string) => void,
): Promise<Omit<Evidence, 'endedByThemselves'>> {
  const address = hostAndPort(settings, 'temporal');
  const connection = await Connection.connect({
    address,
    channelArgs: DIRECTLY,
  });
  const dataConverter = createDataConverter(config.keyRing);
  const temporal = new Client({ connection, namespace: settings.namespace, dataConverter });
  const holdfast = new HoldfastClient(temporal);
  const sandboxUrl = urlOf(settings, 'sandbox');
  const sandbox = new SandboxControl(sandboxUrl);
  const webhookCounts = new WebhookCounts(`${urlOf(settings, 'webhookMetrics')}/metrics`);
  const temporalServes = async (): Promise<void> => {
    await (await connectWhenReady(address, settings.namespace, () => stack.temporal.assertAlive())).close();
  };
  const killer = new Killer({
    worker: { process: stack.worker },
    temporal: { process: stack.temporal, serves: temporalServes },
    webhook: { process: stack.webhook, beforeKill: () => webhookCounts.keep() },
  });
  await addUnits(sandbox, units, webhookEndpoint(settings));
  const campaign = new Campaign({
    ...{ holdfast, temporal, sandbox, sandboxUrl, seed: args.seed },
    scenarios: scenariosOf(args.flows),
    units: askedUnits,
  });
  const load = new Load({ campaign, sandbox, killer, signal }, args);

  const begun = Date.now();
  let waitsFor: string | undefined;
  const progress = setInterval(() => {
    const { worker, temporal: engine, webhook } = killer.counts;
    const kills = `killed: worker ${worker}, Temporal ${engine}, webhook handler ${webhook}`;
    const doing = waitsFor === undefined ? kills : `faults are over, waiting for ${waitsFor}`;
    print(`${seconds(begun).padStart(6)}  ${load.begun} flows asked for, ${campaign.final} of them final; ${doing}`);
  }, PROGRESS_EVERY_MS);
  signal.addEventListener('abort', () => print(STOPPING), { once: true });
  print(`Temporal UI while it lasts: ${urlOf(settings, 'temporalUi')}`);
  print(`Seed ${args.seed}: repeat this plan of kills and cards with --seed ${args.seed}`);
  try {
    await load.run();
    const loadedForMs = Date.now() - begun;
    const onWait = (what: string): void => void (waitsFor = what);
    const { seed, concurrency, flows } = args;
    const found = await settle({ campaign, flows, temporal, sandbox, webhookCounts, units, onWait });
    return { seed, concurrency, loadedForMs, kills: killer.counts, ...found };
  } finally {
    clearInterval(progress);
    campaign.abandon();
    await holdfast.close();
  }
}

function seconds(since: number): string {
  return `${Math.round((Date.now() - since) / 1000)} s`;
}
