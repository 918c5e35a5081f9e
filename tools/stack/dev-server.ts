import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { DIRECTLY } from '../../src/client/proxy.js';
import { whyUnreachable } from '../../src/client/why-unreachable.js';
import { messageOf } from '../../src/contract/message-of.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { withParentDeathSignal } from './interruption.js';
import { prepareNamespace } from './namespace.js';
import { freePort } from './ports.js';

const START_LIMIT_MS = 60_000;
const ATTEMPTS = 4;

interface DevServerOptions {
  /** Path of the Temporal CLI. */
  executable: string;
  /** Where the database and the log go. */
  folder: string;
  /** At least one. */
  namespaces: readonly string[];
  /** Changes the arguments of `npm start`. */
  adjust?: (args: readonly string[]) => readonly string[];
}

export interface DevServer {
  readonly address: string;
  /** Process id, which changes with each start. */
  pid(): number;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGKILL without waiting, as a last resort. */
  killNow(): void;
  /** Over the same database, at the same address. Resolves when it serves. */
  start(): Promise<void>;
}

/**
 * Starts a Temporal dev server with the settings of `npm start` on a free port, its namespaces set up for test. It leads a process group of its own, so
 * nothing that kills whole groups hits it, and ends with the process that started it.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOn(await freePort(), options);
    } catch (error) {
      if (!(error instanceof EndedEarly) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** It ends by itself if another process has taken one of its ports since they were found free. */
class EndedEarly extends Error {}

async function startOn(port: number, options: DevServerOptions): Promise<DevServer> {
  const { executable, folder, namespaces, adjust = (args) => args } = options;
  const address = `127.0.0.1:${port}`;
  const logPath = join(folder, `temporal-${port}.log`);
  const databasePath = join(folder, `temporal-${port}.db`);
  const settings = { ip: '127.0.0.1', port, databasePath, namespaces, searchAttributes: SEARCH_ATTRIBUTES };
  const { command, args } = withParentDeathSignal(executable, [...adjust(devServerArgs(settings))]);
  let child: ChildProcess;

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const open = async (): Promise<Connection> => {
    const log = openSync(logPath, 'a');
    child = spawn(command, args, { detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    child.unref();
    const assertRuns = (): void => {
      if (hasEnded()) throw new EndedEarly('it has ended');
    };
    try {
      return await connectWhenReady(address, namespaces.at(-1) ?? 'default', assertRuns);
    } catch (error) {
      child.kill('SIGKILL');
      // A panic says why in its first lines.
      const log = readFileSync(logPath, 'utf8').slice(0, 2000);
      const reason = `The Temporal dev server did not start: ${messageOf(error)}\n${log}`;
      throw error instanceof EndedEarly ? new EndedEarly(reason) : new Error(reason);
    }
  };
  const connection = await open();
  try {
    for (const namespace of namespaces) await prepareNamespace(connection, namespace);
  } finally {
    await connection.close();
  }
  return {
    address,
    pid: () => child.pid ?? 0,
    start: async () => await (await open()).close(),
    async kill() {
      if (hasEnded()) return;
      const gone = once(child, 'exit');
      child.ref();
      child.kill('SIGKILL');
      await gone;
    },
    killNow: () => void child.kill('SIGKILL'),
  };
}

/** Search attribute types by the contract's name, as the dev server's flags spell them. */
const FLAG_TYPES: Readonly<Record<string, string>> = {
  KEYWORD: 'Keyword',
  TEXT: 'Text',
  INT: 'Int',
  DOUBLE: 'Double',
  BOOL: 'Bool',
  DATETIME: 'Datetime',
  KEYWORD_LIST: 'KeywordList',
};

const DYNAMIC_CONFIG: Readonly<Record<string, string>> = {
  // The dev server has one history shard, whose queue readers poll at most 20 times a second by default. That would
  // delay each step of a sequential flow by 50 ms.
  'history.transferProcessorMaxPollRPS': '5000',
  'history.timerProcessorMaxPollRPS': '5000',
  'history.visibilityProcessorMaxPollRPS': '5000',
  'frontend.WorkflowTimeSkippingEnabled': 'true',
  // A changed retention applies to flows that close after this cache has been refreshed.
  'system.namespaceCacheRefreshInterval': '"1s"',
};

/** Longest time (ms) until every part of the dev server sees a changed namespace: two refreshes. */
export const NAMESPACE_CACHE_MS = 2_000;

interface DevServerSettings {
  ip: string;
  port: number;
  databasePath: string;
  /** In addition to `default`, which always exists. */
  namespaces?: readonly string[];
  /** Applies only when a namespace is created. An existing database keeps its attributes. */
  searchAttributes: Readonly<Record<string, string>>;
  /** Temporal UI is served only if set. */
  ui?: { port: number; codecEndpoint: string };
}

/**
 * Arguments of `temporal` for the embedded server. WAL with `synchronous=NORMAL` survives a crash of the process; only
 * a power failure can lose the last writes.
 */
export function devServerArgs(options: DevServerSettings): string[] {
  const { ip, port, databasePath, namespaces = [], searchAttributes, ui } = options;
  const uiArgs = ui
    ? ['--ui-ip', ip, '--ui-port', String(ui.port), '--ui-codec-endpoint', ui.codecEndpoint, '--ui-disable-news-fetch']
    : ['--headless'];
  return [
    ...['server', 'start-dev', '--ip', ip, '--port', String(port), '--log-level', 'warn', '--log-format', 'json'],
    ...['--db-filename', databasePath],
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
    ...namespaces.flatMap((name) => ['--namespace', name]),
    ...Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${flagType(type)}`]),
    ...uiArgs,
  ];
}

function flagType(type: string): string {
  const flag = FLAG_TYPES[type];
  if (flag === undefined)
    throw new Error(`Search attribute type ${type} is not one of ${Object.keys(FLAG_TYPES).join(', ')}`);
  return flag;
}

/** The server runs, but nothing can be asked of it. */
class ServerSilentError extends Error {
  override readonly name = 'ServerSilentError';
}

const ATTEMPT_MS = 1_000;
const PAUSE_MS = 50;

/**
 * Waits until the server of this machine at `address` answers for `namespace`, and returns the open connection.
 * @param stop called before each attempt; throw in it to give up
 * @throws ServerSilentError after `limitMs`
 */
export async function connectWhenReady(
  address: string,
  namespace: string,
  stop: () => void,
  limitMs = START_LIMIT_MS,
): Promise<Connection> {
  const connection = Connection.lazy({ address, channelArgs: DIRECTLY });
  const begun = Date.now();
  for (;;) {
    stop();
    try {
      await connection.withDeadline(Date.now() + ATTEMPT_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      return connection;
    } catch (error) {
      if (Date.now() - begun > limitMs) {
        const why = (await whyUnreachable({ address, channelArgs: DIRECTLY })) ?? messageOf(error);
        throw new ServerSilentError(`Temporal does not answer at ${address} within ${limitMs / 1_000} s: ${why}`);
      }
      await sleep(PAUSE_MS);
    }
  }
}
