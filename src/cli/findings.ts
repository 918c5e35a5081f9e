import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { isUndecodable } from '../contract/payload-marks.js';
import {
  ACKNOWLEDGE_UPDATE,
  type Acknowledge,
  type AcknowledgedFinding,
  type Finding,
  FINDING_KINDS,
  FINDING_MEMO,
  FINDING_PREFIX,
  type FindingKind,
  RECONCILIATION_TYPES,
} from '../contract/reconcile.js';
import { quoted } from '../client/visibility-words.js';
import { isOpen, OPEN } from '../client/is-open.js';

/** A finding as visibility stores it, which may lag by a second. Times are ISO 8601 UTC. */
export interface ListedFinding extends Partial<Omit<Finding, 'kind' | 'subject'>> {
  /** Its name for `reconcile ack`. */
  id: string;
  kind: FindingKind;
  subject: string;
  status: 'found' | 'acknowledged' | 'stopped';
  foundAt: string;
  closedAt?: string;
}

const LIST_MS = 60_000;
const ACK_MS = 20_000;
const AT_ONCE = 8;
const PAGE = 100;
const FINDING = `WorkflowType = "${RECONCILIATION_TYPES.finding}"`;

export async function listFindings(
  client: Client,
  { kinds, all, limit, until }: { kinds: readonly FindingKind[]; all: boolean; limit: number; until?: Date },
): Promise<ListedFinding[]> {
  const ofKinds = kinds.map((kind) => `WorkflowId STARTS_WITH ${quoted(`${FINDING_PREFIX}${kind}-`)}`);
  const clauses = [
    FINDING,
    ...(all ? [] : [OPEN]),
    // Temporal's times are finer than the instants that we show.
    ...(until === undefined ? [] : [`StartTime < "${new Date(until.getTime() + 1).toISOString()}"`]),
    ...(ofKinds.length === 0 ? [] : [`(${ofKinds.join(' OR ')})`]),
  ];
  return await listed(client, clauses.join(' AND '), limit);
}

async function listed(client: Client, query: string, limit: number): Promise<ListedFinding[]> {
  const found: ListedFinding[] = [];
  return await client.withDeadline(Date.now() + LIST_MS, async () => {
    for await (const info of client.workflow.list({ query, pageSize: PAGE })) {
      const finding = asFinding(info);
      if (finding !== undefined) found.push(finding);
      if (found.length >= limit) break;
    }
    return found;
  });
}

function asFinding({
  workflowId,
  memo,
  status,
  startTime,
  closeTime,
}: WorkflowExecutionInfo): ListedFinding | undefined {
  const id = workflowId.slice(FINDING_PREFIX.length);
  const kind = FINDING_KINDS.find((each) => id.startsWith(`${each}-`));
  if (kind === undefined) return undefined;
  const kept: unknown = memo?.[FINDING_MEMO];
  return {
    subject: id.slice(kind.length + 1),
    ...(typeof kept === 'object' && kept !== null && !isUndecodable(kept) && (kept as Finding)),
    id,
    kind,
    status: isOpen(status) ? 'found' : status.name === 'COMPLETED' ? 'acknowledged' : 'stopped',
    foundAt: startTime.toISOString(),
    ...(closeTime !== undefined && { closedAt: closeTime.toISOString() }),
  };
}

export type Acknowledgement =
  | { id: string; result: 'acknowledged'; who: string; why: string; at: string }
  /** Nothing was changed. */
  | { id: string; result: 'failed'; message: string };

/** Acknowledges each finding that is named by its id, or by the whole or the first 8 characters of its subject. */
export async function acknowledge(
  client: Client,
  names: readonly string[],
  request: Acknowledge,
): Promise<Acknowledgement[]> {
  const done: Acknowledgement[] = [];
  for (let start = 0; start < names.length; start += AT_ONCE) {
    const part = names.slice(start, start + AT_ONCE);
    done.push(...(await Promise.all(part.map((name) => acknowledgeOne(client, name, request)))));
  }
  return done;
}

async function acknowledgeOne(client: Client, name: string, request: Acknowledge): Promise<Acknowledgement> {
  try {
    return await client.withDeadline(Date.now() + ACK_MS, async () => {
      const id = await wholeId(client, name);
      const handle = client.workflow.getHandle(`${FINDING_PREFIX}${id}`);
      const { who, why, at } = await handle.executeUpdate<AcknowledgedFinding, [Acknowledge]>(ACKNOWLEDGE_UPDATE, {
        args: [request],
      });
      return { id, result: 'acknowledged', who, why, at };
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { id: name, result: 'failed', message: messageOf(cause) };
  }
}

const LEAST = 8;

async function wholeId(client: Client, name: string): Promise<string> {
  const given = name.startsWith(FINDING_PREFIX) ? name.slice(FINDING_PREFIX.length) : name;
  if (given.length < LEAST) throw new Error(`"${given}" is too short: name it as reconcile list shows it`);
  const named = FINDING_KINDS.some((kind) => given.startsWith(`${kind}-`));
  const beginnings = named ? [given] : FINDING_KINDS.map((kind) => `${kind}-${given}`);
  const clauses = beginnings.map((each) => `WorkflowId STARTS_WITH ${quoted(`${FINDING_PREFIX}${each}`)}`);
  const found = await listed(client, `${FINDING} AND (${clauses.join(' OR ')})`, 10);
  const exact = found.filter(({ id }) => beginnings.includes(id));
  // One that was stopped and found again is listed twice.
  const [one, ...others] = new Set((exact.length > 0 ? exact : found).map(({ id }) => id));
  if (one === undefined) throw new Error(`no finding begins with "${given}"`);
  if (others.length > 0) throw new Error(`several findings begin with "${given}": ${[one, ...others].join(', ')}`);
  return one;
}
