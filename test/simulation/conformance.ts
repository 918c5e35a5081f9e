import type { Client } from '@temporalio/client';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { Replay } from '../replay/activations.js';
import type { Change } from '../replay/changes.js';
import type { Command } from '../replay/commands.js';
import { type Difference, differences, sayDifference } from '../replay/compare.js';
import { commandsOf, withPlaceholders } from '../replay/conform.js';
import { decodeHistory, type History, isRecord, ms, type Plain } from '../replay/decode.js';
import { EVERY_LONG_SCENARIO, EVERY_SCENARIO, SCENARIO_WORKER_ENV, timeOf } from '../replay/every-scenario.js';
import { LIMITED_UNIT } from '../replay/guarded-scenarios.js';
import { type Golden, isMeantEverywhere, type Locals } from '../replay/golden.js';
import { drive, type Runtime } from '../replay/runtime.js';
import type { OneRun } from '../replay/scenarios.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { until } from '../support/until.js';
import { Arrivals } from './arrivals.js';
import type { Moments } from './moments.js';
import { startSimulatedStack } from './simulated-stack.js';
import { startSimulatedTime } from './simulated-time.js';

const [codec] = createDataConverter(parseKeyRing(TEST_ENCRYPTION_KEYS)).payloadCodecs;

/**
 * Runs the scenario of a golden history in the simulation.
 *
 * @returns the run's history, decoded, and what was waited for in vain
 */
export async function simulated(golden: Golden, moments?: Moments): Promise<{ history: History; overdue: string[] }> {
  const { name, history } = golden;
  const arrivals = moments && new Arrivals(history, codec, moments);
  const more = {
    // So that a day and an hour which the flow reckons with are those of the history.
    startAt: ms(history.events?.[0]?.eventTime),
    seed: name,
    ...(arrivals && { arrive: arrivals.rule }),
  };
  const [short, long] = [EVERY_SCENARIO[name], EVERY_LONG_SCENARIO[name]];
  const read = async ({ workflow }: Client, one: string | OneRun): Promise<History> => {
    const { workflowId, runId } = typeof one === 'string' ? { workflowId: one } : one;
    const handle = workflow.getHandle(workflowId, runId);
    await until(
      () => handle.describe(),
      ({ status }) => status.name !== 'RUNNING',
    );
    return await decodeHistory(await handle.fetchHistory(), codec);
  };
  const overdue = arrivals?.overdue ?? [];
  if (long !== undefined) {
    const time = await startSimulatedTime(timeOf(name), { ...more, elsewhere: takesAll });
    try {
      return { history: await read(time.client, await long(time)), overdue };
    } finally {
      await time.close();
    }
  }
  // Where events wait, the engine that recorded the histories was told of them at other moments.
  const how = { waitForEndMs: 0, ...more };
  const stack = await startSimulatedStack(
    { pendingMs: 3_600_000, billing: true, units: [LIMITED_UNIT], workerEnv: SCENARIO_WORKER_ENV },
    how,
  );
  try {
    if (short === undefined) throw new Error(`no scenario makes ${name}`);
    return { history: await read(stack.temporal, await short(stack)), overdue };
  } finally {
    await stack.close();
  }
}

/** A merchant who takes every notification. */
const takesAll = async () => ({ status: 204, headers: {}, body: Buffer.alloc(0) });

/** What the flow has given its local activities, which the history does not hold; from a replay of it. */
export async function localsOf(runtime: Runtime, history: History): Promise<Locals> {
  const locals: Locals = {};
  const replay = new Replay(history, ({ localSeq, actual }) => {
    if (localSeq !== undefined) locals[localSeq] = actual.content;
  });
  await drive(runtime, replay);
  const left = [...replay.pending, ...replay.openLocals];
  if (left.length > 0) throw new Error(`a replay asks for more than the simulation did: ${JSON.stringify(left)}`);
  return locals;
}

/** @returns where two runs of one scenario ask for different things, one sentence each */
export function disagreements(
  golden: Golden,
  run: { history: History; locals: Locals },
  changes: readonly Change[],
): string[] {
  const recorded = comparable(withoutLater(changed(golden, changes)), startOf(golden.history));
  const now = comparable(withoutLater(commandsOf(run.history, run.locals)), startOf(run.history));
  const kinds = (commands: readonly Command[]): string[] => commands.map(({ kind, content }) => title(kind, content));
  const [before, after] = [kinds(recorded), kinds(now)];
  const apart = before.findIndex((kind, index) => kind !== after[index]);
  if (apart !== -1 || before.length !== after.length) {
    const at = apart === -1 ? before.length : apart;
    return [`command ${at + 1}: recorded ${before.slice(at).join(', ')}; simulated ${after.slice(at).join(', ')}`];
  }
  return recorded.flatMap(({ kind, content }, index) =>
    differences(content, remembered(content, now[index]))
      .filter((difference) => !isOfSpeed(difference) && !isOfHash(difference) && !isMeantEverywhere(difference))
      .map((difference) => `command ${index + 1}, ${kind} ${sayDifference(difference)}`),
  );
}

/** The id of a notification ends with a hash of what it says, ids of that run included. */
function isOfHash({ expected, actual }: Difference): boolean {
  const numberOf = (value: Plain | undefined): string | undefined =>
    typeof value === 'string' ? /^(subscription-.*:\d+):[0-9a-f]{8}$/.exec(value)?.[1] : undefined;
  return numberOf(expected) !== undefined && numberOf(expected) === numberOf(actual);
}

function title(kind: string, { activityType = '' }: Command['content']): string {
  return typeof activityType === 'string' ? `${kind} ${activityType}`.trim() : kind;
}

/** The commands of a golden history as today's code is meant to give them. */
function changed({ name, history, locals }: Golden, changes: readonly Change[]): Command[] {
  const commands = commandsOf(history, locals);
  for (const { event, path, now } of changes.filter((change) => change.history === name)) {
    const upTo = commandsOf({ events: (history.events ?? []).slice(0, event) }, locals);
    const command = commands[upTo.length - 1];
    if (command === undefined) throw new Error(`${name}: event ${event} is no command`);
    put(command.content, path.split(/[.[\]]+/).filter(Boolean), now);
  }
  return commands;
}

/** What the activities did not tell when the histories were recorded; their replays can't show it. */
const LATER = new Set(['details', 'issuer', 'level', 'passesLuhn', 'madeUnder', 'expirationDate', 'createdAt']);

function withoutLater(commands: readonly Command[]): Command[] {
  const inside = (value: Plain): Plain => {
    if (Array.isArray(value)) return value.map(inside);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([key]) => !LATER.has(key));
    return Object.fromEntries(entries.map(([key, item]) => [key, inside(item)]));
  };
  return commands.map(({ kind, content }) => ({ kind, content: inside(content) as Command['content'] }));
}

function put(inside: Plain | undefined, [key = '', ...rest]: string[], value: Plain | undefined): void {
  const holder = inside as Record<string, Plain>;
  if (rest.length > 0) put(holder[key], rest, value);
  else if (value === undefined) delete holder[key];
  else holder[key] = value;
}

function startOf({ events }: History): number {
  return ms(events?.[0]?.eventTime);
}

/** Without what differs from run to run: ids, what a caller has encrypted or named by itself; moments since the start. */
function comparable(commands: readonly Command[], startedAt: number): Command[] {
  const updates = new Map<Plain | undefined, string>();
  const ofCaller = ({ kind, content }: Command): Command => {
    if (kind !== 'acceptUpdate' && kind !== 'completeUpdate') return { kind, content };
    const id = updates.get(content['id']) ?? `update ${updates.size + 1}`;
    updates.set(content['id'], id);
    return { kind, content: { ...content, id } };
  };
  return withPlaceholders(
    commands.map(ofCaller).map(({ kind, content }) => {
      return { kind, content: sinceStart(content, startedAt) as Command['content'] };
    }),
  );
}

const ISO = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function sinceStart(value: Plain, startedAt: number): Plain {
  if (typeof value === 'number' && value > 1.5e12 && value < 5e12) return { sinceStart: value - startedAt };
  if (typeof value === 'string' && ISO.test(value)) return { sinceStart: Date.parse(value) - startedAt };
  if (Array.isArray(value)) return value.map((inner) => sinceStart(inner, startedAt));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === 'encryptedCvv' ? 'encrypted' : sinceStart(inner, startedAt),
    ]),
  );
}

/** The time-skipping server recorded neither of a child; where it did, they are compared. */
function remembered(recorded: Command['content'], now: Command | undefined): Plain | undefined {
  if (now?.kind !== 'child' || 'summary' in recorded) return now?.content;
  const { searchAttributes: _attributes, summary: _summary, ...rest } = now.content;
  return rest;
}

/** Real processes took longer than simulated ones: so much more had passed, also in skipped days. */
const SLOWER_MS = 5_000;

function isOfSpeed({ path, expected, actual }: Difference): boolean {
  if (typeof expected !== 'number' || typeof actual !== 'number') return false;
  const apart = Math.abs(expected - actual);
  if (/\bsinceStart$/.test(path)) return apart <= Math.max(SLOWER_MS, expected / 500);
  return /\b(?:ms|waitFor|\w+Timeout)$/.test(path) && apart <= Math.min(SLOWER_MS, expected / 20);
}
