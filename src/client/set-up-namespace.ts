import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isGrpcServiceError } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { ENVIRONMENT_MARK, SEARCH_ATTRIBUTES } from '../contract/names.js';
import { type Environment, sayIfOther } from './environment-mark.js';
import { codeOf, GRPC } from './grpc-codes.js';
import {
  attributeNames,
  type AttributeName,
  keepsLongEnough,
  namespaceFaults,
  type NamespaceReading,
  readNamespace,
  typeForCommands,
  withType,
} from './namespace.js';

/** Of a namespace that setup makes. A reference is unique only as long as the namespace keeps closed flows. */
export const RETENTION_DAYS = 365;

const WITHIN_MS = 60_000;
/** Each part of a server remembers for some seconds what a namespace was like, or that there was none. */
const SEEN_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 250;
/** Most that Temporal Cloud allows, in days. */
const CLOUD_RETENTION_DAYS = 90;

/** Values of the API's `IndexedValueType`. */
const TYPE_NUMBERS = { KEYWORD: 2, INT: 3, BOOL: 5, DATETIME: 6 } as const;

/** The server's answer was a refusal: the login may not do this, or the server can't. */
const REFUSED: readonly (number | undefined)[] = [
  GRPC.invalidArgument,
  GRPC.permissionDenied,
  GRPC.failedPrecondition,
  GRPC.unimplemented,
];

export interface NamespaceSetUp {
  /** What has been changed. */
  changed: string[];
  /** What was refused, and is to be done by hand: each with its commands. */
  byHand: string[];
  /** Why a process can't work there yet; empty: it can. */
  faults: string[];
  /** For so long it keeps closed flows; undefined: there is no such namespace. */
  retentionDays: number | undefined;
}

/**
 * Makes the namespace fit for Holdfast: makes it where it is missing, lets it keep closed flows for `retentionDays` or
 * longer, registers search attributes, and marks it with its environment. May be repeated, and changes nothing in a
 * namespace of the other environment.
 * @param retentionDays Default: 365 for one that it makes, or that keeps them for less than its environment needs
 */
export async function setUpNamespace(
  connection: Connection,
  namespace: string,
  environment: Environment,
  retentionDays?: number,
): Promise<NamespaceSetUp> {
  return await connection.withDeadline(Date.now() + WITHIN_MS, async () => {
    const found = await readNamespace(connection, namespace);
    const other = sayIfOther(namespace, found?.mark, environment);
    if (other !== undefined) return { changed: [], byHand: [], faults: [other], retentionDays: found?.retentionDays };
    const days = retentionDays ?? daysFor(environment, found);
    return await setUp({ connection, namespace, environment, retentionDays: days }, found);
  });
}

/** Without a number that was asked for, what somebody has chosen stays as it is if it is enough. */
function daysFor(environment: Environment, found: NamespaceReading | undefined): number {
  return found !== undefined && keepsLongEnough(found, environment) ? found.retentionDays : RETENTION_DAYS;
}

interface Target {
  connection: Connection;
  namespace: string;
  environment: Environment;
  retentionDays: number;
}

async function setUp(target: Target, found: NamespaceReading | undefined): Promise<NamespaceSetUp> {
  const { namespace, environment } = target;
  const changed: string[] = [];
  const refusals: Refusal[] = [];
  /** @param what in words, as done */
  const change = async (what: string, make: () => Promise<unknown>): Promise<boolean> => {
    try {
      await make();
      changed.push(what);
      return true;
    } catch (error) {
      if (!isGrpcServiceError(error) || !REFUSED.includes(codeOf(error))) throw error;
      refusals.push({ code: codeOf(error), details: error.details });
      return false;
    }
  };

  if (found !== undefined) await raiseRetention(target, found, change);
  else if (await change(`made namespace "${namespace}"`, () => register(target))) await readWhen(target, () => true);
  const before = refusals.length;
  await addSearchAttributes(target, found?.lacking ?? attributeNames(), change);
  const hasRoom = !refusals.slice(before).some(({ code }) => code === GRPC.invalidArgument);
  if (found !== undefined) await mark(target, found, change);

  const isDone = ({ mark: held, lacking, retentionDays }: NamespaceReading): boolean =>
    held !== undefined && lacking.length === 0 && retentionDays >= target.retentionDays;
  const seen = await readWhen(target, isDone, refusals.length === 0 ? SEEN_WITHIN_MS : 0);
  return {
    changed,
    byHand: byHand(target, seen, sayRefusals(refusals, hasRoom)),
    faults: namespaceFaults(seen, namespace, environment),
    retentionDays: seen?.retentionDays,
  };
}

type Change = (what: string, make: () => Promise<unknown>) => Promise<boolean>;

async function register({ connection, namespace, environment, retentionDays }: Target): Promise<void> {
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(`${retentionDays} days`),
      data: { [ENVIRONMENT_MARK.namespaceData]: environment },
    });
  } catch (error) {
    // Another setup was first. It has marked the namespace, and the reading at the end shows for what.
    if (codeOf(error) !== GRPC.alreadyExists) throw error;
  }
}

async function raiseRetention(target: Target, found: NamespaceReading, change: Change): Promise<void> {
  const { connection, namespace, retentionDays } = target;
  if (found.retentionDays >= retentionDays) return;
  await change(`closed flows are kept for ${retentionDays} days (was ${found.retentionDays})`, () =>
    connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(`${retentionDays} days`) },
    }),
  );
}

async function addSearchAttributes(
  { connection, namespace }: Target,
  names: readonly AttributeName[],
  change: Change,
): Promise<void> {
  if (names.length === 0) return;
  await change(`registered search attributes ${names.map(withType).join(', ')}`, () =>
    registerSearchAttributes(connection, namespace, names),
  );
}

/** The server leaves out those that are registered already. */
export async function registerSearchAttributes(
  { operatorService }: Pick<Connection, 'operatorService'>,
  namespace: string,
  names: readonly AttributeName[] = attributeNames(),
): Promise<void> {
  const searchAttributes = Object.fromEntries(names.map((name) => [name, TYPE_NUMBERS[SEARCH_ATTRIBUTES[name]]]));
  await operatorService.addSearchAttributes({ namespace, searchAttributes });
}

/** In the namespace's data, or where nobody may change that in the memo of a workflow that stays open. */
async function mark(target: Target, { mark: held }: NamespaceReading, change: Change): Promise<void> {
  if (held?.heldBy === 'data') return;
  const { connection, namespace, environment } = target;
  const data = { [ENVIRONMENT_MARK.namespaceData]: environment };
  const marked = await change(`marked the namespace for "${environment}"`, () =>
    connection.workflowService.updateNamespace({ namespace, updateInfo: { data } }),
  );
  if (marked || held?.heldBy === 'open workflow') return;
  await change(`marked the namespace for "${environment}" by workflow ${ENVIRONMENT_MARK.workflowId}`, () =>
    startMark(target),
  );
}

async function startMark({ connection, namespace, environment }: Target): Promise<void> {
  const { workflowId, workflowType, taskQueue, memo } = ENVIRONMENT_MARK;
  try {
    await connection.workflowService.startWorkflowExecution({
      namespace,
      workflowId,
      workflowType: { name: workflowType },
      taskQueue: { name: taskQueue },
      memo: { fields: { [memo]: defaultPayloadConverter.toPayload(environment) } },
      identity: 'holdfast-setup',
      requestId: randomUUID(),
    });
  } catch (error) {
    if (codeOf(error) !== GRPC.alreadyExists) throw error;
  }
}

/** Reads until the namespace is seen as it should be, at most for `withinMs`. */
async function readWhen(
  { connection, namespace }: Target,
  isSeen: (reading: NamespaceReading) => boolean,
  withinMs = SEEN_WITHIN_MS,
): Promise<NamespaceReading | undefined> {
  const end = Date.now() + withinMs;
  for (;;) {
    const reading = await readNamespace(connection, namespace);
    if ((reading !== undefined && isSeen(reading)) || Date.now() >= end) return reading;
    await sleep(LOOK_EVERY_MS);
  }
}

interface Refusal {
  code: number | undefined;
  details: string;
}

/**
 * Whoever takes a server without room for a lack of rights asks for rights in vain.
 * @param hasRoom for the search attributes
 */
function sayRefusals(refusals: readonly Refusal[], hasRoom: boolean): string[] {
  const details = (of: readonly Refusal[]): string => [...new Set(of.map((one) => one.details))].join('; ');
  const ofLogin = refusals.filter(({ code }) => code === GRPC.permissionDenied);
  const ofServer = refusals.filter((refusal) => !ofLogin.includes(refusal));
  const advice = ', as it does for want of room: give Holdfast a namespace of its own, or remove attributes of others';
  return [
    ...(ofLogin.length > 0 ? [`Temporal has refused this login a change (${details(ofLogin)}):`] : []),
    ...(ofServer.length > 0 ? [`the server has refused a change (${details(ofServer)})${hasRoom ? '' : advice}:`] : []),
  ];
}

/** What is lacking, with its commands, behind why setup could not make it. What a refusal has not kept from being there is left out. */
function byHand(target: Target, reading: NamespaceReading | undefined, refusals: readonly string[]): string[] {
  const { namespace, environment, retentionDays } = target;
  const items: string[] = [];
  const onCloud = Math.min(retentionDays, CLOUD_RETENTION_DAYS);
  if (reading === undefined) {
    items.push(
      steps('make the namespace', [
        `temporal operator namespace create --namespace ${namespace} --retention ${retentionDays}d`,
        `tcld namespace create --namespace ${namespace} --retention-days ${onCloud} ... (on Temporal Cloud), then run holdfast setup again`,
      ]),
    );
  } else {
    if (reading.retentionDays < retentionDays) {
      items.push(
        steps(`let it keep closed flows for ${retentionDays} days; it keeps them for ${reading.retentionDays} now`, [
          `temporal operator namespace update --namespace ${namespace} --retention ${retentionDays}d`,
          reading.retentionDays < onCloud
            ? `tcld namespace retention set --namespace ${namespace} --retention-days ${onCloud} (on Temporal Cloud)`
            : `on Temporal Cloud ${CLOUD_RETENTION_DAYS} days are the most: never use a reference again after that`,
        ]),
      );
    }
    if (reading.lacking.length > 0) {
      const asOptions = reading.lacking.map((name) => `--search-attribute "${withType(name)}"`).join(' ');
      items.push(
        steps('register search attributes', [
          ...reading.lacking.map(
            (name) =>
              `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type ${typeForCommands(name)}`,
          ),
          `tcld namespace search-attributes add --namespace ${namespace} ${asOptions} (on Temporal Cloud)`,
        ]),
      );
    }
    if (reading.mark === undefined) {
      const { workflowId, workflowType, taskQueue, memo } = ENVIRONMENT_MARK;
      items.push(
        steps(`mark it for "${environment}"`, [
          `temporal workflow start --namespace ${namespace} --workflow-id ${workflowId} --type ${workflowType} ` +
            `--task-queue ${taskQueue} --memo '${memo}="${environment}"'`,
        ]),
      );
    }
  }
  return items.length === 0 ? items : [...refusals, ...items];
}

function steps(what: string, commands: readonly string[]): string {
  return [what, ...commands.map((command) => `  ${command}`)].join('\n');
}
