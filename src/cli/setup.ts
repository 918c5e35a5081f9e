import { messageOf } from '../contract/message-of.js';
import { type Environment, environmentNamed } from '../client/environment-mark.js';
import { readNamespace } from '../client/namespace.js';
import { makeReconcileSchedule, RECONCILES_AT } from '../client/reconcile-schedule.js';
import { RETENTION_DAYS, setUpNamespace } from '../client/set-up-namespace.js';
import { loadPart } from '../config/optional-packages.js';
import { readReferenceBookUrl } from '../config/reference-book.js';
import { RECONCILE_SCHEDULE } from '../contract/reconcile.js';
import type { Request } from './arguments.js';
import type { Engine } from './engine.js';
import { CommandError } from './errors.js';
import { asJson, asLines } from './table.js';

const READ_MS = 5_000;

interface Output {
  env: NodeJS.ProcessEnv;
  print: (text: string) => void;
  printError: (text: string) => void;
}

/** `holdfast setup`. Resolves with the exit code: 1 if a worker could not work in the namespace yet. */
export async function setUp(
  { connection, address, namespace }: Engine,
  { retentionDays, json }: Extract<Request, { command: 'setup' }>,
  { env, print, printError }: Output,
): Promise<number> {
  const environment = environmentOf(env) ?? (await environmentMarked(connection, namespace));
  const done = await setUpNamespace(connection, namespace, environment, retentionDays);
  const { changed, byHand, faults } = done;
  const isScheduled = faults.length === 0 && (await setUpSchedule(connection, namespace, changed, byHand));
  const book = await setUpReferenceBook(env);
  if (book !== undefined) (book.isThere ? changed : faults).push(book.says);
  if (json) print(asJson({ namespace, address, environment, ...done }));
  else {
    const nothing = faults.length === 0 ? ['nothing was to be changed'] : [];
    print(
      asLines([
        `Namespace "${namespace}" at ${address}, environment "${environment}":`,
        ...(changed.length === 0 ? nothing : changed).map((each) => `- ${each}`),
        ...sayRetention(done.retentionDays),
        ...(isScheduled
          ? [`- schedule ${RECONCILE_SCHEDULE.id}: reconciles ${RECONCILES_AT}, unless somebody has changed it`]
          : []),
        ...(faults.length === 0 ? ['Workers can start.'] : []),
      ]),
    );
    if (byHand.length > 0) printError(['To be done by hand:', ...byHand, ''].join('\n'));
    if (faults.length > 0) printError(['Workers can not start yet:', ...faults, ''].join('\n'));
  }
  return faults.length === 0 ? 0 : 1;
}

function sayRetention(days = RETENTION_DAYS): string[] {
  if (days >= RETENTION_DAYS) return [];
  return [`- closed flows are kept for ${days} days: without a reference book never use a reference again after that`];
}

async function setUpSchedule(
  connection: Engine['connection'],
  namespace: string,
  changed: string[],
  byHand: string[],
): Promise<boolean> {
  const made = await makeReconcileSchedule(connection, namespace);
  if (made === 'made') changed.push(`made schedule ${RECONCILE_SCHEDULE.id}`);
  if (made === 'made' || made === 'there') return true;
  byHand.push(made.refused);
  return false;
}

function environmentOf(env: NodeJS.ProcessEnv) {
  try {
    return environmentNamed(env['HOLDFAST_ENVIRONMENT'] ?? '');
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError(error.message);
    throw error;
  }
}

/**
 * The default of every process, in a namespace that is marked already.
 * @throws CommandError for another: its mark stays for good
 */
async function environmentMarked(connection: Engine['connection'], namespace: string): Promise<Environment> {
  const read = () => readNamespace(connection, namespace, false);
  const found = await connection.withDeadline(Date.now() + READ_MS, read);
  if (found?.mark !== undefined) return 'test';
  throw new CommandError(
    `HOLDFAST_ENVIRONMENT is not set, and setup marks namespace "${namespace}" with it for good: ` +
      'set it to "test" or "live", and run setup again',
  );
}

/** Makes the table of the reference book, where one is configured. */
async function setUpReferenceBook(env: NodeJS.ProcessEnv): Promise<{ isThere: boolean; says: string } | undefined> {
  const { HOLDFAST_REFERENCE_BOOK_URL: inline, HOLDFAST_REFERENCE_BOOK_URL_FILE: file } = env;
  const faults: string[] = [];
  // Compose passes what is not set as an empty text.
  const url = readReferenceBookUrl(
    { ...(inline && { referenceBookUrl: inline }), ...(file && { referenceBookUrlFile: file }) },
    faults,
  );
  if (faults.length > 0) throw new CommandError(faults.join('\n'));
  if (url === undefined) return undefined;
  const { createReferenceBookTable } = await loadPart(
    'HOLDFAST_REFERENCE_BOOK_URL',
    ['pg'],
    async () => await import('../reference-book/postgres.js'),
  );
  try {
    await createReferenceBookTable(url);
    return { isThere: true, says: 'the table of the reference book is there' };
  } catch (error) {
    const why = messageOf(error);
    return { isThere: false, says: `the reference book can't be used (HOLDFAST_REFERENCE_BOOK_URL): ${why}.` };
  }
}
