import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { PayloadCodec } from '@temporalio/common';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { type Recorded, Replay } from './activations.js';
import { type Change, CHANGED_EVERYWHERE } from './changes.js';
import type { Command } from './commands.js';
import { type Difference, differences, sayDifference } from './compare.js';
import { decodeHistory, type History, type Plain } from './decode.js';
import { GOLDEN_ENCRYPTION_KEYS } from './golden-key.js';
import { drive, type Runtime } from './runtime.js';
import { idOf, nameOf } from './tasks.js';

/**
 * The golden histories of the present code. A folder of recordings has `histories/`, `local-activities/` (what the local
 * activities of each were given, which the markers of a history do not hold) and `recordings.sha256`.
 */
export const PRESENT = new URL('./', import.meta.url);

/** By the number of each local activity in its run. */
export type Locals = Record<number, Command['content']>;

export interface Golden {
  name: string;
  /** Decoded. */
  history: History;
  locals: Locals;
}

/** @returns the names of all histories in a folder of recordings, sorted */
export function goldenNames(folder = PRESENT): string[] {
  return readdirSync(new URL('histories/', folder))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .toSorted();
}

/** @throws Error when it does not exist, or something in it can't be decoded */
export async function readGolden(name: string, folder = PRESENT): Promise<Golden> {
  const history = new URL(`histories/${name}.json`, folder);
  const locals = new URL(`local-activities/${name}.json`, folder);
  return {
    name,
    history: await decodeHistory(JSON.parse(readFileSync(history, 'utf8')), goldenCodec()),
    locals: existsSync(locals) ? (JSON.parse(readFileSync(locals, 'utf8')) as Locals) : {},
  };
}

function goldenCodec(): PayloadCodec {
  return createDataConverter(parseKeyRing(GOLDEN_ENCRYPTION_KEYS)).payloadCodecs[0];
}

export interface Replayed {
  /** What the code does otherwise than the history recorded, one sentence each. */
  complaints: string[];
  /** What the code gave its local activities now. */
  locals: Locals;
}

/** @param changes those that are meant, in all histories: whoever asks for one that no longer shows is told so */
export async function replayGolden(runtime: Runtime, golden: Golden, changes: readonly Change[]): Promise<Replayed> {
  const { name, history } = golden;
  const complaints: string[] = [];
  const locals: Locals = {};
  const meant = new Set(changes.filter((change) => change.history === name));
  const replay = new Replay(history, (recorded) => {
    const { event, actual, localSeq } = recorded;
    if (localSeq !== undefined) locals[localSeq] = actual.content;
    const where = `${name}, event ${idOf(event)} (${nameOf(event)})`;
    const expected = expectedOf(recorded, golden);
    if (expected === undefined) {
      complaints.push(`${where}: what it was given has not been recorded: npm run golden`);
      return;
    }
    for (const difference of differences(expected, remembered(recorded))) {
      const change = [...meant].find((one) => one.event === idOf(event) && isMeant(one, difference));
      if (change) meant.delete(change);
      else if (!isMeantEverywhere(difference)) complaints.push(`${where}, ${actual.kind} ${sayDifference(difference)}`);
    }
  });
  try {
    await drive(runtime, replay);
    for (const { kind, content } of [...replay.pending, ...replay.openLocals]) {
      complaints.push(
        `${name}: the code asks for ${kind} ${JSON.stringify(content)}, and the history holds no such event`,
      );
    }
  } catch (error) {
    complaints.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  for (const { event, path } of meant)
    complaints.push(`${name}, event ${event}: ${path} no longer differs, as a change says`);
  return { complaints, locals };
}

export function isMeantEverywhere(difference: Difference): boolean {
  return CHANGED_EVERYWHERE.some(
    (one) =>
      differences(one.before, difference.expected).length === 0 &&
      (one.isNow === undefined
        ? isMeant(one, difference)
        : one.path === difference.path && one.isNow(difference.actual)),
  );
}

function isMeant({ path, now }: Pick<Change, 'path' | 'now'>, difference: Difference): boolean {
  return path === difference.path && differences(now, difference.actual).length === 0;
}

function expectedOf({ expected, localSeq }: Recorded, { locals }: Golden): Command['content'] | undefined {
  if (localSeq === undefined) return expected.content;
  const given = locals[localSeq];
  return given && { ...given, ...expected.content };
}

/** The time-skipping server forgets some of what starts a child, and is known by the namespace that it does not name. */
function remembered({ event, actual: { content } }: Recorded): Plain {
  const started = event.startChildWorkflowExecutionInitiatedEventAttributes;
  if (!started || started.namespaceId) return content;
  const { searchAttributes: _attributes, summary: _summary, ...rest } = content;
  return rest;
}
