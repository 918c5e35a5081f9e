import { SandboxControl } from '../../sandbox/control.js';
import { lazyClient } from '../../src/client/connect.js';
import { HoldfastClient } from '../../src/client/index.js';
import { ConfigError, loadConfig, type Config } from '../../src/config/index.js';
import { minorUnitExponent } from '../../src/contract/currencies.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import { listen, runProcess } from '../../workers/process.js';
import { portSetting } from '../stack/ports.js';
import { LOOPBACK, PORTS, type PortName } from '../stack/settings.js';
import type { About } from './answers.js';
import { flowReader } from './engine.js';
import { FAULT_KINDS } from './fault-kinds.js';
import { MOCK_CARDS } from './mock-cards.js';
import { createConsole } from './server.js';

const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY'];

interface ConsoleConfig extends Config {
  consolePort: number;
  sandboxUrl: string;
  uiUrl: string;
}

await runProcess({
  name: 'console',
  load: loadConsoleConfig,
  async start({ config, logger }) {
    const { client } = lazyClient(createDataConverter(config.keyRing));
    const holdfast = new HoldfastClient(client);
    const flowsUrl = `${config.uiUrl}/namespaces/${encodeURIComponent(client.options.namespace)}/workflows`;
    const server = createConsole({
      holdfast,
      flows: flowReader(client),
      sandbox: new SandboxControl(config.sandboxUrl),
      about: aboutOf(config, flowsUrl),
      linkTo: (workflowId) => `${flowsUrl}/${encodeURIComponent(workflowId)}`,
      logger,
    });
    const address = { host: LOOPBACK, port: config.consolePort, setting: PORTS.console.setting };
    const url = await listen(server, address);
    return {
      url,
      async stop() {
        await server.close();
        await holdfast.close();
      },
    };
  },
});

/** `npm start` tells its processes every address. Only it starts this one, beside a sandbox. */
function loadConsoleConfig(env: NodeJS.ProcessEnv): ConsoleConfig {
  const config = loadConfig(env);
  if (!config.embedded)
    throw new ConfigError(['the console is a part of npm start, and moves the money of its sandbox only']);
  const port = (name: PortName): number => {
    const read = portSetting(env, PORTS[name].setting, PORTS[name].preferred);
    if (typeof read === 'number') return read;
    throw new ConfigError([read.fault]);
  };
  const { bindAddress } = config;
  const host = bindAddress === '0.0.0.0' || bindAddress === '::' ? LOOPBACK : bindAddress;
  const urlOf = (name: PortName): string => `http://${host.includes(':') ? `[${host}]` : host}:${port(name)}`;
  return { ...config, consolePort: port('console'), sandboxUrl: urlOf('sandbox'), uiUrl: urlOf('temporalUi') };
}

function aboutOf({ apiBaseUrl, sandboxUrl, businessUnits }: ConsoleConfig, uiUrl: string): About {
  const usesSandbox = new URL(apiBaseUrl).origin === new URL(sandboxUrl).origin;
  return {
    sandboxUrl,
    uiUrl,
    publicKey: businessUnits.get('default')?.publicKey ?? '',
    ...(!usesSandbox && {
      off: `Payments are made at ${apiBaseUrl}, not at the sandbox, so this page only shows them: it moves no money.`,
    }),
    cards: MOCK_CARDS,
    currencies: CURRENCIES.map((code) => ({ code, decimals: minorUnitExponent(code) })),
    faults: Object.entries(FAULT_KINDS).map(([kind, { text, effect }]) => ({ kind, text, effect })),
  };
}
