import { existsSync } from 'node:fs';
import { Connection, type ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { channelArgsTo } from './proxy.js';

/** What overrides Temporal's own settings. */
export interface EngineAddress {
  address?: string;
  namespace?: string;
}

/** Of the SDK. */
const DEFAULT_NAMESPACE = 'default';
/** Each reading reads files, in ms. */
const READ_EVERY_MS = 10_000;
/** Longer than any call may take, in ms. */
const CLOSE_AFTER_MS = 900_000;

/**
 * Temporal's standard `TEMPORAL_*` variables and profile files, with the certificates that these name; what `options`
 * name overrides them.
 * @throws Error for what can't be read, and for a TEMPORAL_CONFIG_FILE that is not there: the SDK would ask localhost
 */
export function engineSettings(options: EngineAddress = {}, env?: Record<string, string>) {
  const file = (env ?? process.env)['TEMPORAL_CONFIG_FILE'];
  if (file && !existsSync(file)) throw new Error(`TEMPORAL_CONFIG_FILE="${file}": there is no such file`);
  const config = loadClientConnectConfig(env === undefined ? {} : { overrideEnvVars: env });
  const address = options.address ?? config.connectionOptions.address;
  return {
    connectionOptions: {
      ...config.connectionOptions,
      channelArgs: channelArgsTo(address),
      ...(address !== undefined && { address }),
    },
    namespace: options.namespace ?? config.namespace ?? DEFAULT_NAMESPACE,
  };
}

type Settings = Pick<ConnectionOptions, 'address' | 'tls' | 'metadata' | 'apiKey'>;

/** Whether a connection with the one settings, its API key apart, would be one with the other. */
export function isSameServer(one: Settings, other: Settings): boolean {
  const text = ({ address, tls, metadata }: Settings) => JSON.stringify([address, tls, metadata]);
  return text(one) === text(other);
}

/**
 * A connection that is opened with the first call and follows its settings, which are read again every 10 seconds in which
 * it is used: a renewed API key or certificate holds from then on, and nothing has to be restarted.
 */
export function followingConnection(read: () => ConnectionOptions): Connection {
  let settings = read();
  let readAt = performance.now();
  const first = Connection.lazy(settings);
  let current = first;
  const earlier = new Set<Connection>();

  const follow = (): void => {
    readAt = performance.now();
    let next: ConnectionOptions;
    try {
      next = read();
    } catch {
      // A file that is being replaced. What was read last still holds.
      return;
    }
    if (!isSameServer(settings, next)) {
      const replaced = current;
      earlier.add(replaced);
      current = Connection.lazy(next);
      setTimeout(() => {
        if (earlier.delete(replaced)) void replaced.close();
      }, CLOSE_AFTER_MS).unref();
    } else if (typeof next.apiKey === 'string' && next.apiKey !== settings.apiKey) current.setApiKey(next.apiKey);
    settings = next;
  };
  const close = async (): Promise<void> => {
    const all = [current, ...earlier];
    earlier.clear();
    await Promise.all(all.map((one) => one.close()));
  };
  return new Proxy(first, {
    get(_first, name) {
      if (name === 'close') return close;
      if (performance.now() - readAt >= READ_EVERY_MS) follow();
      const value: unknown = Reflect.get(current, name);
      return typeof value === 'function' ? (value.bind(current) as unknown) : value;
    },
  });
}
