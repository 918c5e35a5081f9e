import { Deadlines } from '../client/deadlines.js';
import { HoldfastError } from '../client/errors.js';
import { FlowCalls } from '../client/flow-calls.js';
import { checkSubscriptionInput, makeRequest } from '../client/start-options.js';
import { FLOWS } from '../contract/flows.js';
import { subscriptionWorkflowId } from '../contract/names.js';
import { type SubscriptionInput, subscriptionReferenceSchema } from '../contract/subscription.js';
import type { Request } from './arguments.js';
import { askLines, type Output } from './ask-lines.js';
import type { Engine } from './engine.js';
import { faulty, type Line, type LineFault, type LineOf, parseLines, readText, sayFaults } from './line-file.js';
import { keyOf, Report } from './line-report.js';

export type ImportRequest = Extract<Request, { command: 'subscriptions import' }>;

interface Subscriber extends LineOf {
  /** Faults of the day on which the file is read: none of them matters to a subscription that was started before. */
  late: readonly string[];
}

/**
 * `holdfast subscriptions import`: starts the subscriptions of a file, or joins those that an earlier call has started.
 * Resolves with the exit code: 1 when a line is left.
 * @throws CommandError with every fault of every line, before any is started
 */
export async function importSubscriptions(engine: Engine, request: ImportRequest, output: Output): Promise<number> {
  const { file, rate, json } = request;
  const { lines, faults } = parseLines(readText(file), parseSubscriber);
  const report = await Report.of(request.report ?? `${file}.report.jsonl`, engine);
  const done = report.done();
  const left = lines.filter((line) => !done.has(keyOf(line)));
  const all = [...faults, ...(await lateFaults(engine, left))].toSorted((one, other) => one.number - other.number);
  if (all.length > 0) throw faulty('Nothing was started', file, sayFaults(all));
  return await askLines(engine, lines, { report, done, rate, json }, output);
}

function parseSubscriber(value: unknown): ReturnType<Parameters<typeof parseLines<Subscriber>>[1]> {
  try {
    const { input, late } = checkSubscriptionInput(value);
    const { workflowId } = makeRequest(FLOWS.subscription, input);
    return {
      asked: {
        workflowId,
        reference: input.reference,
        late: late?.faults ?? [],
        ask: (holdfast, wait) => holdfast.subscribe(value as SubscriptionInput, wait),
      },
    };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const reference = referenceOf(value);
    const named =
      reference === undefined ? {} : { named: { reference, workflowId: subscriptionWorkflowId(reference) } };
    return { faults: error.faults, ...named };
  }
}

function referenceOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('reference' in value)) return undefined;
  return subscriptionReferenceSchema.safeParse(value.reference).data;
}

/** A call that was killed may have started a line without reporting it, on a day on which that was not too late. */
async function lateFaults({ client }: Engine, lines: readonly Line<Subscriber>[]): Promise<LineFault[]> {
  const calls = new FlowCalls(client, new Deadlines(client));
  const faults: LineFault[] = [];
  for (const { number, workflowId, late } of lines) {
    if (late.length === 0 || (await calls.isKnown({ workflowId }))) continue;
    faults.push(...late.map((fault) => ({ number, fault })));
  }
  return faults;
}
