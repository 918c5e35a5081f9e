import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { engineSettings } from '../client/engine-connection.js';
import { environmentNamed, otherEnvironment } from '../client/environment-mark.js';
import { DIRECTLY } from '../client/proxy.js';
import { sayUnreadableSettings, whyUnreachable } from '../client/why-unreachable.js';
import { ConfigError, SECRET_FILES } from '../config/index.js';
import { createDataConverter } from '../security/data-converter.js';
import { KeyRing, parseKeyRing } from '../security/key-ring.js';
import { readSecretFile } from '../security/secret-file.js';
import { CommandError } from './errors.js';
import { runningStack, type RunningStack } from './run-file.js';
import { printable } from './table.js';

export interface Surroundings {
  env: NodeJS.ProcessEnv;
  cwd: string;
}

export interface Engine {
  client: Client;
  connection: Connection;
  address: string;
  namespace: string;
  /** Base address of Temporal UI, if known. */
  uiUrl: string | undefined;
  /** Hint for the user about which Temporal this command uses. */
  note: string | undefined;
  close(): Promise<void>;
}

/** ms for which a refused connection is retried. */
const CONNECT_MS = 5_000;

export interface EngineNeeds {
  /**
   * `notNeeded`: encrypted data can't be read, which is enough for visibility's unencrypted data. `ifThere`: encrypted data can
   * be read if the keys are available.
   */
  keys: 'needed' | 'ifThere' | 'notNeeded';
  /** It changes something: refused where the variables name another Temporal than that of the stack in this folder. */
  does: 'reads' | 'changes';
  /** Whether a namespace of another environment than HOLDFAST_ENVIRONMENT is refused. */
  checks: boolean;
}

/**
 * Connects to the Temporal of the stack that runs in this folder, or else by environment variables, like the client.
 * @throws CommandError, ConfigError, KeyRingError, SecretFileError
 */
export async function openEngine(
  { env, cwd }: Surroundings,
  { keys, does, checks }: EngineNeeds,
  waitMs: number,
): Promise<Engine> {
  const stack = runningStack(env, cwd);
  const others = stack === undefined ? undefined : otherThan(stack, env);
  if (others !== undefined && does === 'changes') throw new CommandError(others.refusal);
  const ring = keys === 'notNeeded' ? undefined : keyRingOf(env, stack);
  if (ring === undefined && keys === 'needed') {
    throw new ConfigError([
      "HOLDFAST_ENCRYPTION_KEYS is not set: give it the worker's value, since the flow's answers are encrypted " +
        '(npx holdfast list needs no key)',
    ]);
  }
  const dataConverter = createDataConverter(ring ?? unusedKeyRing());
  const { address, namespace, connectionOptions } = stack === undefined ? byEnvironment(env) : byStack(stack);
  let connection: Connection;
  try {
    connection = await Connection.connect({
      ...connectionOptions,
      address,
      connectTimeout: Math.min(CONNECT_MS, waitMs),
    });
  } catch (error) {
    const remedy =
      stack === undefined
        ? 'run this in the folder of a running npm start, or set TEMPORAL_ADDRESS'
        : 'is npm start still running in this folder?';
    const why = (await whyUnreachable({ ...connectionOptions, address })) ?? messageOf(error);
    throw new CommandError(`Temporal does not answer at ${address} (${why}): ${remedy}`);
  }
  try {
    if (checks) await refuseOtherEnvironment(connection, namespace, env);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    client: new Client({ connection, namespace, dataConverter }),
    connection,
    address,
    namespace,
    uiUrl: stack === undefined ? uiOf(env) : stack.uiUrl,
    note: others?.note,
    close: () => connection.close(),
  };
}

/** With HOLDFAST_ENVIRONMENT set, the command must not read or settle payments of the other environment. */
async function refuseOtherEnvironment(
  connection: Connection,
  namespace: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const environment = environmentNamed(env['HOLDFAST_ENVIRONMENT'] ?? '');
  if (environment === undefined) return;
  const ask = () => otherEnvironment(connection, namespace, environment);
  const other = await connection.withDeadline(Date.now() + CONNECT_MS, ask).catch((error: unknown) => {
    throw new CommandError(
      `It could not be read which environment namespace "${namespace}" is for: ${messageOf(error)}`,
    );
  });
  if (other !== undefined) throw new CommandError(other);
}

function byStack({ address, namespace }: RunningStack) {
  return { address, namespace, connectionOptions: { channelArgs: DIRECTLY } };
}

function byEnvironment(env: NodeJS.ProcessEnv) {
  try {
    const { connectionOptions, namespace } = engineSettings({}, textsOf(env));
    return { address: connectionOptions.address ?? '127.0.0.1:7233', namespace, connectionOptions };
  } catch (error) {
    throw new CommandError(`Temporal can't be reached: ${sayUnreadableSettings(error)}`);
  }
}

function textsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Same order as in the processes of the stack: the environment variable, then the file of the embedded mode. */
function keyRingOf(env: NodeJS.ProcessEnv, stack: RunningStack | undefined): KeyRing | undefined {
  const given = env['HOLDFAST_ENCRYPTION_KEYS']?.trim();
  if (given) return parseKeyRing(given);
  const path = stack === undefined ? undefined : join(stack.stateDir, SECRET_FILES.encryptionKeys);
  const stored = path === undefined ? undefined : readSecretFile(path);
  return stored === undefined ? undefined : parseKeyRing(stored, path);
}

/** A random key: encrypted memos decode as undecodable values. Data encrypted with it would be unreadable. */
function unusedKeyRing(): KeyRing {
  return new KeyRing([{ id: 'unused', key: randomBytes(32) }]);
}

/** Address of Temporal UI: the first of the origins that the codec server allows. */
function uiOf(env: NodeJS.ProcessEnv): string | undefined {
  return env['HOLDFAST_UI_ORIGINS']?.split(',')[0]?.trim() || undefined;
}

/** Each of them chooses a Temporal, or a namespace of it. */
const CHOOSING = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'];

/**
 * What is said where variables choose another Temporal or namespace than the local stack's: an operator who takes the one
 * for the other brakes, approves or settles in the wrong place, and believes that it is done.
 */
function otherThan(stack: RunningStack, env: NodeJS.ProcessEnv): { note: string; refusal: string } | undefined {
  const chosen = CHOOSING.filter((name) => env[name]);
  if (chosen.length === 0) return undefined;
  const other = chosenBy(env);
  const own = sayWhere(stack);
  if (other === own) return undefined;
  const variables = `${chosen.map((name) => `${name}=${env[name]}`).join(' ')} (${other})`;
  return {
    note:
      `This is about the npm start that runs in this folder: ${own}. ${variables} is not followed here: run the command in ` +
      'another folder for that. With HOLDFAST_ENVIRONMENT=live or test it refuses a namespace of the other one.',
    refusal:
      `Nothing was done. An npm start runs in this folder (${own}), and the variables name another Temporal: ${variables}. ` +
      'Run the command in another folder to mean that one, or without these variables to mean npm start.',
  };
}

function chosenBy(env: NodeJS.ProcessEnv): string {
  try {
    const { address, namespace } = byEnvironment(env);
    // The local stack writes its own so.
    return sayWhere({ address: address.replace(/^(?:localhost|\[::1\])(?=:)/, '127.0.0.1'), namespace });
  } catch (error) {
    return printable(messageOf(error));
  }
}

function sayWhere({ address, namespace }: Pick<RunningStack, 'address' | 'namespace'>): string {
  return `namespace "${namespace}" at ${address}`;
}
