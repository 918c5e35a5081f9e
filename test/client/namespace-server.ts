import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { GRPC } from '../../src/client/grpc-codes.js';

const DAY_S = 86_400;

type Data = Record<string, string>;
type Ttl = { seconds: unknown };

/** A server that has at most one namespace, and refuses what `refuses` names. */
export interface NamespaceServer {
  /** undefined: there is no namespace. */
  namespace?: { days: number; data: Data } | undefined;
  version: string;
  /** name → type, as registered. */
  attributes: Map<string, string>;
  /** Whether the namespace's description names columns, as with an SQL database. */
  namesColumns: boolean;
  /** Memo of the workflow that marks the namespace. */
  markWorkflow?: { memo: object; closed: boolean };
  refuses: Set<string>;
  /** Fails every call. */
  fault?: Error;
  /** Fails what is asked of visibility. */
  visibilityFault?: Error;
  /** Calls that were taken, in their order. */
  readonly changes: string[];
  readonly connection: Connection;
}

export function grpcError(code: number, details: string): Error {
  return Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: { get: () => [] } });
}

export const ALL_ATTRIBUTES: ReadonlyMap<string, string> = new Map(Object.entries(SEARCH_ATTRIBUTES));

const TYPES: Record<number, string> = { 2: 'KEYWORD', 3: 'INT', 5: 'BOOL', 6: 'DATETIME' };
const COLUMNS: Record<string, string> = { KEYWORD: 'Keyword', INT: 'Int', BOOL: 'Bool', DATETIME: 'Datetime' };

/** By default it is as `holdfast setup` leaves it for test. */
export function namespaceServer(given: Partial<NamespaceServer> = {}): NamespaceServer {
  const changes: string[] = [];
  const server: NamespaceServer = {
    namespace: { days: 365, data: { 'holdfast-environment': 'test' } },
    version: '1.31.0',
    attributes: new Map(ALL_ATTRIBUTES),
    namesColumns: true,
    refuses: new Set(),
    ...given,
    changes,
    connection: undefined as never,
  };
  const call =
    <Request>(name: string, answer: (request: Request) => object, isChange = false) =>
    async (request: Request): Promise<object> => {
      if (server.fault !== undefined) throw server.fault;
      if (server.refuses.has(name)) throw grpcError(GRPC.permissionDenied, 'Request unauthorized.');
      const answered = answer(request);
      if (isChange) changes.push(name);
      return answered;
    };
  const present = (): NonNullable<NamespaceServer['namespace']> => {
    if (server.namespace === undefined) throw grpcError(GRPC.notFound, 'Namespace shop is not found.');
    return server.namespace;
  };
  const daysIn = (ttl: Ttl): number => Number(ttl.seconds) / DAY_S;
  const workflowService = {
    describeNamespace: call('describeNamespace', () => {
      const { days, data } = present();
      const columns = [...server.attributes].map(([name, type], index) => [`${COLUMNS[type]}${10 + index}`, name]);
      return {
        namespaceInfo: { data },
        config: {
          workflowExecutionRetentionTtl: { seconds: days * DAY_S },
          customSearchAttributeAliases: server.namesColumns ? Object.fromEntries(columns) : {},
        },
      };
    }),
    getSystemInfo: call('getSystemInfo', () => ({ serverVersion: server.version })),
    countWorkflowExecutions: call('countWorkflowExecutions', ({ query }: { query: string }) => {
      present();
      if (server.visibilityFault !== undefined) throw server.visibilityFault;
      for (const [, name = '', literal = ''] of query.matchAll(/(\w+) = ('[^']*'|\w+)/g)) {
        if (name === 'WorkflowId') continue;
        const type = server.attributes.get(name);
        if (type === undefined) throw grpcError(GRPC.invalidArgument, `invalid search attribute: ${name}`);
        if (!FITS[type]?.test(literal)) throw grpcError(14, 'operator does not exist');
      }
      return { count: 0 };
    }),
    describeWorkflowExecution: call('describeWorkflowExecution', () => {
      if (server.markWorkflow === undefined) throw grpcError(GRPC.notFound, 'workflow not found');
      const { memo, closed } = server.markWorkflow;
      return { workflowExecutionInfo: { memo, ...(closed && { closeTime: { seconds: 1 } }) } };
    }),
    registerNamespace: call(
      'registerNamespace',
      ({ workflowExecutionRetentionPeriod: ttl, data }: { workflowExecutionRetentionPeriod: Ttl; data: Data }) => {
        if (server.namespace !== undefined) throw grpcError(GRPC.alreadyExists, 'Namespace already exists.');
        server.namespace = { days: daysIn(ttl), data };
        server.attributes = new Map();
        return {};
      },
      true,
    ),
    updateNamespace: call(
      'updateNamespace',
      ({ config, updateInfo }: { config?: { workflowExecutionRetentionTtl: Ttl }; updateInfo?: { data: Data } }) => {
        const namespace = present();
        if (config !== undefined) namespace.days = daysIn(config.workflowExecutionRetentionTtl);
        if (updateInfo !== undefined) Object.assign(namespace.data, updateInfo.data);
        return {};
      },
      true,
    ),
    startWorkflowExecution: call(
      'startWorkflowExecution',
      ({ memo }: { memo: object }) => {
        if (server.markWorkflow?.closed === false) throw grpcError(GRPC.alreadyExists, 'already started');
        server.markWorkflow = { memo, closed: false };
        return {};
      },
      true,
    ),
  };
  const operatorService = {
    addSearchAttributes: call(
      'addSearchAttributes',
      ({ searchAttributes }: { searchAttributes: Record<string, number> }) => {
        for (const [name, type] of Object.entries(searchAttributes)) server.attributes.set(name, TYPES[type] ?? '');
        return {};
      },
      true,
    ),
  };
  const schedules = new Set<string>();
  Object.assign(workflowService, {
    createSchedule: call(
      'createSchedule',
      ({ scheduleId }: { scheduleId: string }) => {
        if (schedules.has(scheduleId)) throw grpcError(GRPC.alreadyExists, 'schedule is already registered');
        schedules.add(scheduleId);
        return { conflictToken: new Uint8Array() };
      },
      true,
    ),
  });
  const withDeadline = (_at: number, ask: () => Promise<unknown>) => ask();
  return Object.assign(server, {
    connection: { workflowService, operatorService, withDeadline } as unknown as Connection,
  });
}

/** Literals that PostgreSQL takes for a column of that type. */
const FITS: Record<string, RegExp> = { KEYWORD: /^'/, INT: /^\d/, BOOL: /^(true|false)$/, DATETIME: /^'\d{4}-/ };
