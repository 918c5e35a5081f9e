import '../support/require-sources.mjs';
import { existsSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { BaseVMWorkflow } from '@temporalio/worker/lib/workflow/vm-shared.js';
import { startSimulatedTime } from './simulated-time.js';

const BUNDLE = 'dist/workflow-bundle.js';
const OWN = /^(?:src|workflows|activities|workers)\//;

interface Position {
  readonly line: number;
  readonly column: number;
}

export interface ChargeFigures {
  /** Of which a function ran between the client's call and its answer, in client, worker, activities and workflow. */
  files: string[];
  functions: number;
  /** From the workflow's function to the call of the activity, and from the activity's function to the socket. */
  frames: string[];
}

/** Files, functions and frames of the product in one charge that succeeds; by the bundle's source map in the workflow. */
export async function filesOfACharge(root: string): Promise<ChargeFigures> {
  const stacks = { scheduled: '', sent: '' };
  noteScheduling((stack) => (stacks.scheduled ||= stack));
  const time = await startSimulatedTime(
    {},
    {
      noting: (dispatcher) =>
        dispatcher.compose((dispatch) => (options, handler) => {
          if (options.method === 'POST' && options.path.endsWith('/charges')) stacks.sent ||= stackNow();
          return dispatch(options, handler);
        }),
    },
  );
  const input = await time.input();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  const { status } = await time.holdfast.charge(input);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  if (status !== 'succeeded') throw new Error(`The charge ended ${status}`);
  await time.close();
  const bundle = readFileSync(`${root}/${BUNDLE}`, 'utf8');
  const files = new Set<string>();
  let functions = 0;
  const add = (file: string | undefined): void => {
    if (file === undefined || !isOwn(root, file)) return;
    files.add(file);
    functions += 1;
  };
  const original = sourcesOf(bundle);
  for (const { url, functions: all } of result) {
    const ran = all.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0);
    if (url.includes('workflow-bundle')) {
      for (const { ranges } of ran) add(original(positionOf(bundle, ranges[0]?.startOffset ?? 0)));
    } else if (url.includes(`${root}/`)) {
      const path = url.slice(url.indexOf(`${root}/`) + root.length + 1);
      for (const _ of ran) add(path);
    }
  }
  const inWorkflow = framesOf(stacks.scheduled, (url, position) => {
    const file = url.includes('workflow-bundle') ? original(position) : undefined;
    return file !== undefined && isOwn(root, file) ? file : undefined;
  });
  const inActivity = framesOf(stacks.sent, (url) => url.split(`${root}/`)[1]);
  return { files: [...files].toSorted(), functions, frames: [...inWorkflow, ...inActivity] };
}

/** Sources of packages have such names too. */
function isOwn(root: string, file: string): boolean {
  return OWN.test(file) && existsSync(`${root}/${file}`);
}

/** Notes the stack at the moment at which a flow schedules the activity that charges. */
function noteScheduling(note: (stack: string) => void): void {
  const { prototype } = BaseVMWorkflow as unknown as {
    prototype: { activate: (this: { activator: Activator }, activation: object) => Promise<unknown> };
  };
  const { activate } = prototype;
  prototype.activate = function (activation) {
    const { activator } = this;
    const push = Object.getPrototypeOf(activator).pushCommand as Activator['pushCommand'];
    activator.pushCommand = function (command, ...rest) {
      const type = command.scheduleLocalActivity?.activityType ?? command.scheduleActivity?.activityType;
      if (type === 'createCharge') note(stackNow());
      push.call(this, command, ...rest);
    };
    return activate.call(this, activation);
  };
}

type Scheduled = { activityType?: string };
interface Activator {
  pushCommand(command: { scheduleLocalActivity?: Scheduled; scheduleActivity?: Scheduled }, ...rest: unknown[]): void;
}

/** With the functions that wait for the present one. */
function stackNow(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  const { stack = '' } = new Error('here');
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}

/** The product's own functions in a stack, outermost first. */
function framesOf(stack: string, fileOf: (url: string, position: Position) => string | undefined): string[] {
  const frames: string[] = [];
  for (const [, name = '', url = '', line, column] of stack.matchAll(
    /^ +at (?:async )?(.*?) ?\(?([^ (]+):(\d+):(\d+)\)?$/gm,
  )) {
    const file = fileOf(url, { line: Number(line), column: Number(column) - 1 });
    if (file !== undefined && OWN.test(file))
      frames.push(`${name === '' || name === 'eval' ? 'a callback' : name} (${file})`);
  }
  return frames.toReversed();
}

function positionOf(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - start };
}

/** Which file of ours a place in the bundle was compiled from. */
function sourcesOf(bundle: string): (position: Position) => string | undefined {
  const encoded = bundle.slice(bundle.lastIndexOf('base64,') + 'base64,'.length).trim();
  const map = new TraceMap(Buffer.from(encoded, 'base64').toString());
  return (position) => {
    const { source } = originalPositionFor(map, { ...position, bias: 1 });
    return source?.match(/(?:src|workflows)\/[^?]*\.ts/)?.[0];
  };
}
