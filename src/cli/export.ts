import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { CommandError } from './errors.js';
import { type ExportedRun, exportedRun } from './exported-run.js';
import { closedBetween } from './visibility-query.js';

export interface ExportOptions {
  file: string;
  since: Date;
  /** Exclusive. */
  until: Date;
}

/** What was exported. */
export interface Exported {
  file: string;
  /** ISO 8601 UTC. */
  since: string;
  /** Of the next export. */
  until: string;
  runs: number;
  /** Hex, of the file. */
  sha256: string;
  /** Runs that Temporal no longer kept when they were to be read. */
  gone: string[];
  /** Runs with values that could not be decoded. */
  undecoded: string[];
}

/** ms. All runs of such a time are listed before they are read: visibility promises no order. */
const WINDOW_MS = 3_600_000;
/** Histories that are read at once. */
const AT_ONCE = 8;
const PAGE = 1_000;

/**
 * Writes one line of JSON for each run that ended between `since` and `until`, by the time of their end. The file has
 * mode 0600, and its name only once it is complete and on the disk.
 * @throws CommandError if there is a file of that name already
 */
export async function exportRuns(client: Client, { file, since, until }: ExportOptions): Promise<Exported> {
  // Of its own: two exports to one name would write into one file.
  const partial = `${file}.${randomUUID().slice(0, 8)}.partial`;
  await refuseExisting(file);
  const output = await open(partial, 'wx', 0o600);
  const hash = createHash('sha256');
  const exported: Exported = {
    file,
    since: since.toISOString(),
    until: until.toISOString(),
    runs: 0,
    sha256: '',
    gone: [],
    undecoded: [],
  };
  try {
    for (let from = since.getTime(); from < until.getTime(); from += WINDOW_MS) {
      const to = Math.min(from + WINDOW_MS, until.getTime());
      await exportWindow(
        client,
        new Date(from),
        new Date(to),
        async (line) => {
          hash.update(line);
          // To its end: a write may take a part of it.
          await output.appendFile(line);
        },
        exported,
      );
    }
    await output.sync();
    await output.close();
    await name(partial, file);
  } catch (error) {
    await output.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  }
  return { ...exported, sha256: hash.digest('hex') };
}

async function refuseExisting(file: string): Promise<void> {
  let present: FileHandle;
  try {
    present = await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await present.close();
  throw existing(file);
}

function existing(file: string): CommandError {
  return new CommandError(`${file} exists already: name another file, no export is overwritten`);
}

/** Such as of a bucket that is mounted as a folder. */
const HAS_NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** A rename would overwrite a file that came meanwhile, a link does not. */
async function name(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw existing(file);
    if (!HAS_NO_LINKS.has(code)) throw error;
    await refuseExisting(file);
    return await rename(partial, file);
  }
  await rm(partial);
}

async function exportWindow(
  client: Client,
  from: Date,
  to: Date,
  write: (line: string) => Promise<void>,
  exported: Exported,
): Promise<void> {
  const listed: WorkflowExecutionInfo[] = [];
  for await (const info of client.workflow.list({ query: closedBetween(from, to), pageSize: PAGE })) listed.push(info);
  const ended = new Map(listed.map((info) => [info.runId, listedRun(info)]));
  const runs = [...ended.values()].sort((x, y) => (orderOf(x) < orderOf(y) ? -1 : 1));
  for (let start = 0; start < runs.length; start += AT_ONCE) {
    const some = runs.slice(start, start + AT_ONCE);
    const read = await Promise.all(some.map((run) => exportedRun(client, run)));
    for (const [index, run] of read.entries()) {
      const { workflowId = '', runId = '' } = some[index] ?? {};
      if (run === undefined) exported.gone.push(`${workflowId} (run ${runId})`);
      else {
        if (run.undecoded !== undefined) exported.undecoded.push(`${workflowId} (run ${runId})`);
        await write(`${JSON.stringify(run)}\n`);
        exported.runs += 1;
      }
    }
  }
}

function listedRun({ workflowId, runId, type, status, startTime, closeTime }: WorkflowExecutionInfo) {
  return {
    workflowId,
    runId,
    type,
    execution: status.name,
    startedAt: startTime.toISOString(),
    closedAt: closeTime?.toISOString() ?? '',
  } satisfies Partial<ExportedRun>;
}

const orderOf = ({ closedAt, workflowId, runId }: ReturnType<typeof listedRun>): string =>
  `${closedAt} ${workflowId} ${runId}`;
