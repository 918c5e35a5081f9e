import { codecSchema, configSchema } from './schema.js';
import { leavesOf, variableOf } from './variables.js';

/** Behind `HOLDFAST_`: what no schema here has, and no process has to be afraid of. */
const OF_OTHERS = [
  // The sandbox.
  'SANDBOX_WEBHOOK_URL SANDBOX_PUBLIC_URL SANDBOX_PENDING_MS SANDBOX_RESEND_FIRST_MS SANDBOX_EVENT_DELAY_MS SANDBOX_HOLD_MS',
  // npm start and compose.
  'TEMPORAL_PORT TEMPORAL_UI_PORT CONSOLE_PORT CONFIG_DIR',
  // Tools and tests of the repository, whose processes have the environment of who runs them.
  'FULL SEED SIMULATION_SEED ENGINE RUN RIG SHARE PICTURES RELEASES RECORD RECORD_ONLY RECORD_INTO NO_CONNECTIONS',
  'TEST_KEY TEST_INFO TEST_EVENTS BENCH_WAITING_URL',
].flatMap((names) => names.split(' ').map((name) => `HOLDFAST_${name}`));

const KNOWN: ReadonlySet<string> = new Set([
  ...[...leavesOf(configSchema), ...leavesOf(codecSchema)].map((schema) => variableOf(schema).name),
  ...OF_OTHERS,
]);

/** Kubernetes and old links of Docker set these for a Service whose name begins with `holdfast`. */
const OF_A_SERVICE = /_SERVICE_(HOST|PORT(_.+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;

/**
 * What is set under a name that Holdfast does not have: misspelt, most likely. Not read, what a restore has lost or the
 * address of the reference book would let money move twice. An empty one counts as not set.
 */
export function unknownNames(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env)
    .filter(([name, text = '']) => {
      if (!name.startsWith('HOLDFAST_') || KNOWN.has(name) || text.trim() === '') return false;
      return !OF_A_SERVICE.test(name) && !(name.endsWith('_PORT') && text.includes('://'));
    })
    .map(([name]) => name)
    .toSorted();
}

/** Never shows the value, which may be a secret under another name. */
export function sayUnknown(name: string): string {
  return `${name} is set, and nothing of Holdfast reads it: correct its name (docs/configuration.md), or unset it`;
}
