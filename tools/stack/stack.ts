import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import {
  PROGRAMS,
  type ProgramName,
  temporalProfile,
  temporalProfilePath,
  withoutTemporalSettings,
} from './ready-process.js';
import { connectWhenReady, devServerArgs, NAMESPACE_CACHE_MS } from './dev-server.js';
import { prepareNamespace } from './namespace.js';
import { removeRunFile, writeRunFile, type RunFile } from './run-file.js';
import { hostAndPort, urlOf, type StackSettings } from './settings.js';
import { SupervisedProcess } from './supervised-process.js';

const distDir = resolve(fileURLToPath(new URL('../..', import.meta.url)));

/** ms that Holdfast's own processes, and after them Temporal, get to stop before they are killed: 9 s in all. */
const OURS_STOP_MS = 5_500;
const TEMPORAL_STOP_MS = 3_000;

export interface StackOptions {
  settings: StackSettings;
  /** Secret part of the codec server's URL, known only to Temporal UI. */
  uiCapability: string;
  temporalPath: string;
  /** Environment of Holdfast's own processes. */
  env: NodeJS.ProcessEnv;
  runFile: RunFile;
  say: (line: string) => void;
  /** Runs the page for people too. Default false. */
  console?: boolean;
  /** Starts each process in its own group, so Ctrl-C ends none of them before `stop`. Default false. */
  ownGroups?: boolean;
}

/** The embedded stack: Temporal, sandbox, worker, webhook handler and codec server as separate processes. */
export class Stack {
  readonly #options: StackOptions;
  readonly #processes = new Map<string, SupervisedProcess>();
  #stopping: Promise<void> | undefined;

  constructor(options: StackOptions) {
    this.#options = options;
  }

  /** Environment of the processes. It may contain secrets. */
  get env(): NodeJS.ProcessEnv {
    return this.#options.env;
  }

  get temporalPath(): string {
    return this.#options.temporalPath;
  }

  get worker(): SupervisedProcess {
    return this.#ours('worker');
  }

  get webhook(): SupervisedProcess {
    return this.#ours('webhook');
  }

  /** The Temporal server. Throws before `boot` has started it. */
  get temporal(): SupervisedProcess {
    const temporal = this.#processes.get('temporal');
    if (temporal === undefined) throw new Error('Temporal has not been started yet');
    return temporal;
  }

  /** Starts independent processes in parallel. @throws BootError, NamespaceError */
  async boot(): Promise<void> {
    const { settings, runFile } = this.#options;
    mkdirSync(join(settings.stateDir, 'logs'), { recursive: true });
    writeFileSync(temporalProfilePath(settings), temporalProfile(settings));
    const { console = false } = this.#options;
    const names: ProgramName[] = ['sandbox', 'codec', ...(console ? (['console'] as const) : [])];
    const withoutTemporal = names.map((name) => this.#ours(name).start());
    const withTemporal = this.#bootTemporal().then(async (changed) => {
      if (this.#stopping !== undefined) return;
      await Promise.all([
        changed && sleep(NAMESPACE_CACHE_MS),
        this.#ours('worker').start(),
        this.#ours('webhook').start(),
      ]);
    });
    await Promise.all([...withoutTemporal, withTemporal]);
    runFile.state = 'ready';
    this.#writeRunFile();
  }

  /** Stops everything within 9 s, Temporal last, so that its clients can shut down gracefully. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  /** Kills every process without a graceful stop. Resolves when all have ended. */
  async killAll(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.kill()));
  }

  /** Kills every process without waiting, as a last resort. */
  killNow(): void {
    for (const process of this.#processes.values()) process.killNow();
    removeRunFile(this.#options.settings.stateDir);
  }

  async #stopAll(): Promise<void> {
    const all = [...this.#processes.values()];
    const temporal = all.filter(({ name }) => name === 'temporal');
    const ours = all.filter(({ name }) => name !== 'temporal');
    await Promise.all(ours.map((process) => process.stop(OURS_STOP_MS)));
    await Promise.all(temporal.map((process) => process.stop(TEMPORAL_STOP_MS)));
    removeRunFile(this.#options.settings.stateDir);
  }

  /** Resolves once the namespace is set up, with whether that has changed it. */
  async #bootTemporal(): Promise<boolean> {
    const { settings, uiCapability, temporalPath } = this.#options;
    const server = this.#add('temporal', {
      command: temporalPath,
      args: devServerArgs({
        ip: settings.bindAddress,
        port: settings.ports.temporal.port,
        databasePath: join(settings.stateDir, 'temporal.db'),
        namespaces: [settings.namespace],
        searchAttributes: SEARCH_ATTRIBUTES,
        ui: {
          port: settings.ports.temporalUi.port,
          codecEndpoint: `${urlOf(settings, 'codec')}/ui/${uiCapability}`,
        },
      }),
      env: withoutTemporalSettings(this.#options.env),
      saysReady: false,
    });
    await server.start();
    const connection = await connectWhenReady(hostAndPort(settings, 'temporal'), settings.namespace, () =>
      server.assertAlive(),
    );
    try {
      return await prepareNamespace(connection, settings.namespace);
    } finally {
      await connection.close();
    }
  }

  #ours(name: ProgramName): SupervisedProcess {
    const existing = this.#processes.get(name);
    if (existing !== undefined) return existing;
    const args = [join(distDir, PROGRAMS[name])];
    return this.#add(name, { command: process.execPath, args, env: this.#options.env, saysReady: true });
  }

  #add(
    name: string,
    spec: { command: string; args: readonly string[]; env: NodeJS.ProcessEnv; saysReady: boolean },
  ): SupervisedProcess {
    const logPath = join(this.#options.settings.stateDir, 'logs', `${name}.log`);
    const { say, ownGroups = false } = this.#options;
    const whole = { name, logPath, ownGroup: ownGroups, ...spec };
    const supervised = new SupervisedProcess(whole, say, () => this.#writeRunFile());
    this.#processes.set(name, supervised);
    return supervised;
  }

  /** Updated at each start of a process, so that the next start can end what a dead stack has left. */
  #writeRunFile(): void {
    if (this.#stopping !== undefined) return;
    const { settings, runFile } = this.#options;
    runFile.processes = [...this.#processes.values()].flatMap(({ running }) => running ?? []);
    writeRunFile(settings.stateDir, {
      ...runFile,
      temporal: {
        address: hostAndPort(settings, 'temporal'),
        namespace: settings.namespace,
        uiUrl: urlOf(settings, 'temporalUi'),
      },
      sandbox: { url: urlOf(settings, 'sandbox') },
      webhook: { url: urlOf(settings, 'webhook'), metricsUrl: `${urlOf(settings, 'webhookMetrics')}/metrics` },
      codec: { url: urlOf(settings, 'codec') },
      ...(this.#options.console === true && { console: { url: urlOf(settings, 'console') } }),
      worker: { metricsUrl: `${urlOf(settings, 'workerMetrics')}/metrics` },
    });
  }
}
