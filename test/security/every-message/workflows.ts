import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  getExternalWorkflowHandle,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  startChild,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { isSealed } from '../../../src/contract/payload-marks.js';
import type { Activities, Told } from './activities.js';

const { seen, fails, beats, endedByClient } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: 10, maximumAttempts: 2 },
});
const local = proxyLocalActivities<Activities>({ startToCloseTimeout: '1 minute', retry: { maximumAttempts: 1 } });

/** Whether each value that a flow was told came with the mark of what was encrypted for it. */
export type Marks = Record<string, boolean>;

const marks: Marks = {};
const told: Told = { what: 'an object, since a text has no mark' };
const failing = (): never => {
  throw ApplicationFailure.nonRetryable('meant', 'Meant', told);
};

export const signal = defineSignal<[Told]>('signal');
export const update = defineUpdate<Told, [Told]>('update');
export const rejected = defineUpdate<Told, [Told]>('rejected');
export const query = defineQuery<{ argument: boolean }, [Told]>('query');

function listen(): void {
  setHandler(signal, (value) => void (marks['signal'] = isSealed(value)));
  setHandler(update, (value) => {
    marks['update'] = isSealed(value);
    return told;
  });
  setHandler(rejected, () => failing());
  setHandler(query, (value) => ({ argument: isSealed(value) }));
}

async function detailsOf(failed: Promise<unknown>): Promise<boolean> {
  try {
    await failed;
    return false;
  } catch (error) {
    // A local activity fails with its own error, another with that as the cause.
    const { cause = error } = error as { cause?: unknown };
    return isSealed((cause as ApplicationFailure).details?.[0]);
  }
}

/** Ends once it was signalled, with the marks of what it was told. */
export async function receives(start: Told): Promise<Marks> {
  marks['start'] = isSealed(start);
  marks['memo at its start'] = isSealed(workflowInfo().memo?.['memo']);
  listen();
  await condition(() => 'signal' in marks);
  return marks;
}

export async function childThatFails(_start: Told): Promise<void> {
  failing();
}

export async function child(start: Told): Promise<Marks & Told> {
  return { ...told, start: isSealed(start), memo: isSealed(workflowInfo().memo?.['memo']) } as unknown as Marks & Told;
}

/** Sends and gets every kind of message once, continues as new, and ends with the marks of them all. */
export async function everyMessage(start: Told, before?: Marks): Promise<Marks> {
  marks[before === undefined ? 'start' : 'start of the next run'] = isSealed(start);
  marks['memo'] = isSealed(workflowInfo().memo?.['memo']);
  listen();
  if (before !== undefined) return { ...before, ...marks, 'carried over': isSealed(before) };
  upsertMemo({ later: told });
  await condition(() => 'signal' in marks && 'update' in marks);

  marks['result of an activity'] = isSealed(await seen(told));
  marks['result of a local activity'] = isSealed(await local.seen(told));
  marks['argument of an activity'] = (await seen(told)).isSealed;
  marks['argument of a local activity'] = (await local.seen(told)).isSealed;
  marks['details of an activity that failed'] = await detailsOf(fails(told));
  marks['details of a local activity that failed'] = await detailsOf(local.fails(told));
  marks['heartbeat that the next attempt reads'] = (await beats(told)).isSealed;
  marks['result by the client of an activity'] = isSealed(await endedByClient(told));

  const { workflowId } = workflowInfo();
  const answer = await executeChild(child, { args: [told], memo: { memo: told } });
  marks['result of a child'] = isSealed(answer);
  marks['start of a child'] = answer['start'] === true;
  marks['memo of a child'] = answer['memo'] === true;
  marks['details of a child that failed'] = await detailsOf(executeChild(childThatFails, { args: [told] }));
  const receiver = await startChild(receives, { workflowId: `receiver-${workflowId}`, args: [told] });
  await receiver.signal(signal, told);
  marks['signal to a child'] = (await receiver.result())['signal'] === true;
  const another = await startChild(receives, { workflowId: `another-${workflowId}`, args: [told] });
  await getExternalWorkflowHandle(another.workflowId).signal(signal, told);
  marks['signal to another workflow'] = (await another.result())['signal'] === true;
  return await continueAsNew<typeof everyMessage>(told, marks);
}
