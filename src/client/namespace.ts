import { type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { ENVIRONMENT_MARK, SEARCH_ATTRIBUTES } from '../contract/names.js';
import { type Environment, type Mark, readMark, sayIfOther, type Service } from './environment-mark.js';
import { codeOf, GRPC, unlessMissing } from './grpc-codes.js';

/** Money rule 1: a reference stays unique only as long as the namespace keeps closed flows. */
const LEAST_LIVE_RETENTION_DAYS = 30;

/** Version of the server, major and minor. */
const OLDEST_SERVER = [1, 31] as const;
const DAY_S = 86_400;
/** Of one reading, in ms. */
const WITHIN_MS = 5_000;

export type AttributeName = keyof typeof SEARCH_ATTRIBUTES;

/** What a namespace is like. Read without operator rights, which a worker does not have everywhere. */
export interface NamespaceReading {
  /** Such as `1.31.0`. */
  serverVersion: string;
  /** For so long the namespace keeps closed flows. */
  retentionDays: number;
  mark: Mark | undefined;
  /** Search attributes that the server does not know by the contract's name and type. */
  lacking: readonly AttributeName[];
  /** Search attributes that are there with another type: name → that type. Only an SQL database tells. */
  otherTypes: ReadonlyMap<AttributeName, string>;
}

/**
 * @param attributes false: without the search attributes, whose check costs a visibility query
 * @returns undefined if there is no such namespace
 */
export async function readNamespace(
  service: Service,
  namespace: string,
  attributes = true,
): Promise<NamespaceReading | undefined> {
  return await unlessMissing(readExisting(service, namespace, attributes));
}

async function readExisting(service: Service, namespace: string, attributes: boolean): Promise<NamespaceReading> {
  const { workflowService } = service;
  const { config, namespaceInfo } = await workflowService.describeNamespace({ namespace });
  const otherTypes = findOtherTypes(config?.customSearchAttributeAliases ?? {});
  const [{ serverVersion }, mark, lacking] = await Promise.all([
    workflowService.getSystemInfo({}),
    readMark(service, namespace, namespaceInfo?.data),
    attributes ? findLacking(service, namespace, namesToFind({ otherTypes })) : [],
  ]);
  const retentionDays = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / DAY_S;
  return { serverVersion, retentionDays, mark, lacking, otherTypes };
}

export interface NamespaceCheck {
  /** Why a process must not work there, each with its mend; a server that does not answer is a reason too. */
  faults: string[];
  warnings: string[];
  /** A further warning: visibility has not told which search attributes there are. It is to be asked again. */
  unchecked?: string;
}

interface CheckOptions {
  /** Limit for an answer. Default 5000. */
  withinMs?: number;
  /** See `readNamespace`. */
  attributes?: boolean;
  /** Is asked why the server does not answer, since its client says only that it does not. */
  why?: () => Promise<string | undefined>;
}

/**
 * Reads a namespace for a process of this environment. Never rejects. Visibility alone may be away: flows go on without it,
 * so that search attributes which can't be read are no fault.
 */
export async function checkNamespace(
  connection: Pick<ConnectionLike, 'workflowService' | 'withDeadline'>,
  namespace: string,
  environment: Environment,
  { withinMs = WITHIN_MS, attributes = true, why }: CheckOptions = {},
): Promise<NamespaceCheck> {
  const within = <Answer>(ms: number, ask: () => Promise<Answer>) => connection.withDeadline(Date.now() + ms, ask);
  try {
    const reading = await within(withinMs, () => readNamespace(connection, namespace, false));
    const asked: Pick<NamespaceReading, 'lacking'> | { unchecked: string } =
      reading === undefined || !attributes
        ? { lacking: [] }
        : // In half the time, so that a caller can still ask for something else within the whole of it.
          await within(withinMs / 2, () => findLacking(connection, namespace, namesToFind(reading))).then(
            (lacking) => ({ lacking }),
            (error: unknown) => {
              if (isRefusal(error)) throw error;
              return { unchecked: sayUnchecked(error, namespace) };
            },
          );
    return {
      faults: namespaceFaults(reading && { ...reading, ...asked }, namespace, environment),
      warnings: warningsOf(reading, namespace),
      ...('unchecked' in asked && asked),
    };
  } catch (error) {
    return { faults: [sayUnreadable(error, namespace, await why?.())], warnings: [] };
  }
}

function sayUnchecked(error: unknown, namespace: string): string {
  return (
    `the search attributes of namespace "${namespace}" could not be checked: visibility does not answer (${toldBy(error)}). ` +
    'Flows go on; lists and counts of them do not work meanwhile.'
  );
}

function warningsOf(reading: NamespaceReading | undefined, namespace: string): string[] {
  if (reading === undefined || reading.retentionDays >= LEAST_LIVE_RETENTION_DAYS) return [];
  return [
    `namespace "${namespace}" keeps closed flows for ${reading.retentionDays} days only, and references no longer than that: ` +
      'fine for tests only.',
  ];
}

/** Every fault of a namespace that was read. @param reading undefined: there is none of this name */
export function namespaceFaults(
  reading: NamespaceReading | undefined,
  namespace: string,
  environment: Environment,
): string[] {
  const setUp = `run holdfast setup with HOLDFAST_ENVIRONMENT="${environment}"`;
  if (reading === undefined) return [sayMissing(namespace, setUp)];
  const { serverVersion, retentionDays, mark, lacking, otherTypes } = reading;
  const faults: string[] = [];
  if (isTooOld(serverVersion)) {
    faults.push(
      `the server of Temporal has version ${serverVersion}, and Holdfast needs ${OLDEST_SERVER.join('.')} or later: update it.`,
    );
  }
  const other = sayIfOther(namespace, mark, environment);
  if (other !== undefined) faults.push(other);
  if (mark === undefined) {
    faults.push(
      `namespace "${namespace}" is marked neither for "test" nor for "live", and nothing would keep the two apart there: ${setUp}.`,
    );
  }
  if (!keepsLongEnough(reading, environment)) {
    faults.push(
      `namespace "${namespace}" keeps closed flows for ${retentionDays} days only: a reference used again after that would be ` +
        `charged again. It needs at least ${LEAST_LIVE_RETENTION_DAYS} days: ${setUp}, which makes it 365.`,
    );
  }
  if (lacking.length > 0)
    faults.push(`namespace "${namespace}" lacks search attributes (${lacking.map(withType).join(', ')}): ${setUp}.`);
  for (const [name, type] of otherTypes) {
    faults.push(
      `namespace "${namespace}" has a search attribute ${name} of type ${type}, and Holdfast's is of type ${SEARCH_ATTRIBUTES[name]}: ` +
        `give Holdfast a namespace of its own, or remove that one (temporal operator search-attribute remove --namespace ` +
        `${namespace} --name ${name}) and ${setUp}.`,
    );
  }
  return faults;
}

/** Flows of test money may be forgotten at any time. */
export function keepsLongEnough({ retentionDays }: NamespaceReading, environment: Environment): boolean {
  return environment === 'test' || retentionDays >= LEAST_LIVE_RETENTION_DAYS;
}

export function sayMissing(namespace: string, setUp = 'run holdfast setup'): string {
  return `there is no namespace "${namespace}": ${setUp}, which makes it, or name another one in TEMPORAL_NAMESPACE.`;
}

/** Why nothing can be read of a namespace, and what to do. @param why there is no connection, if that is known */
export function sayUnreadable(error: unknown, namespace: string, why?: string): string {
  if (isRefusal(error)) {
    return (
      `Temporal refuses this login for namespace "${namespace}" (${toldBy(error)}): check TEMPORAL_API_KEY, or the client ` +
      'certificate of TEMPORAL_TLS_CLIENT_CERT_PATH, and what they may do there.'
    );
  }
  if (codeOf(error) === GRPC.notFound) return sayMissing(namespace);
  return sayUnreachable((hasAnswered(error) ? undefined : why) ?? toldBy(error));
}

/** Any other code than these two comes from the server, which is no matter of connections. */
function hasAnswered(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && code !== GRPC.deadlineExceeded && code !== GRPC.unavailable;
}

function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return code === GRPC.permissionDenied || code === GRPC.unauthenticated;
}

function toldBy(error: unknown): string {
  if (codeOf(error) === GRPC.deadlineExceeded) return 'no answer in time';
  // An error of a worker's own connection has no details.
  return (isGrpcServiceError(error) && error.details) || messageOf(error);
}

export function sayUnreachable(why: string): string {
  return `Temporal cannot be reached (${why}): check that it runs, and TEMPORAL_ADDRESS.`;
}

function isTooOld(version: string): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  // A managed service may name its versions in a way of its own.
  if (major === undefined || minor === undefined) return false;
  return Number(major) < OLDEST_SERVER[0] || (Number(major) === OLDEST_SERVER[0] && Number(minor) < OLDEST_SERVER[1]);
}

/** @param aliases column of an SQL database, such as `Int01`, → the attribute's name */
function findOtherTypes(aliases: Readonly<Record<string, string>>): Map<AttributeName, string> {
  const found = new Map<AttributeName, string>();
  for (const [column, alias] of Object.entries(aliases)) {
    const name = attributeNames().find((each) => each === alias);
    const type = /^([A-Za-z]+)\d+$/.exec(column)?.[1]?.toUpperCase();
    if (name !== undefined && type !== undefined && type !== SEARCH_ATTRIBUTES[name]) found.set(name, type);
  }
  return found;
}

/** Those of another type are there. */
function namesToFind({ otherTypes }: Pick<NamespaceReading, 'otherTypes'>): AttributeName[] {
  return attributeNames().filter((name) => !otherTypes.has(name));
}

/** The server refuses a query that names an attribute which it does not know. */
async function findLacking(
  service: Service,
  namespace: string,
  names: readonly AttributeName[],
): Promise<AttributeName[]> {
  if (await acceptsQuery(service, namespace, names)) return [];
  const accepted = await Promise.all(names.map((name) => acceptsQuery(service, namespace, [name])));
  return names.filter((_name, index) => accepted[index] !== true);
}

/** No literal of another type: on PostgreSQL it fails as if the server were away, and the client tries again for long. */
const LITERALS = { KEYWORD: "'none'", INT: '0', BOOL: 'true', DATETIME: "'2000-01-01T00:00:00Z'" } as const;

async function acceptsQuery(
  { workflowService }: Service,
  namespace: string,
  names: readonly AttributeName[],
): Promise<boolean> {
  const conditions = names.map((name) => `${name} = ${LITERALS[SEARCH_ATTRIBUTES[name]]}`);
  // The id lets a database find the few rows by an index, however many flows there are.
  const query = [`WorkflowId = '${ENVIRONMENT_MARK.workflowId}'`, ...conditions].join(' AND ');
  try {
    await workflowService.countWorkflowExecutions({ namespace, query });
    return true;
  } catch (error) {
    if (codeOf(error) === GRPC.invalidArgument) return false;
    throw error;
  }
}

export function attributeNames(): AttributeName[] {
  return Object.keys(SEARCH_ATTRIBUTES) as AttributeName[];
}

/** As Temporal's commands take both, such as `AmountMinor=Int`. */
export function withType(name: AttributeName): string {
  return `${name}=${typeForCommands(name)}`;
}

export function typeForCommands(name: AttributeName): string {
  const type = SEARCH_ATTRIBUTES[name];
  return `${type.charAt(0)}${type.slice(1).toLowerCase()}`;
}
