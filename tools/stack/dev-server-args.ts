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

export interface DevServerOptions {
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
export function devServerArgs(options: DevServerOptions): string[] {
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
