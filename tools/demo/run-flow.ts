import { movements } from '../audit/ledger.js';
import { workflowLink } from './context.js';
import { knownBy, type DemoFlow, type Ending, type Expected, DemoStep, type Step } from './demo-step.js';
import { sentenceOf } from './endings.js';
import { movementFaults, sentenceOfMovements, type Movement } from './movements.js';
import { orAborted } from './or-aborted.js';
import type { FlowName } from './merchant.js';
import type { DemoStack } from './demo-stack.js';

const LEDGER_LIMIT_MS = 3_000;

/** Result of one flow. */
export interface FlowReport {
  name: FlowName;
  title: string;
  reference: string;
  link: string;
  steps: readonly Step[];
  success: string | undefined;
  /** undefined if the flow did not end. */
  outcome?: Ending;
  /** Movements of money in the ledger. undefined if it could not be read. */
  moved?: readonly Movement[];
  problems: readonly string[];
}

/** Runs one flow and compares its outcome and the ledger with what is expected. Never throws. */
export async function runFlow(stack: DemoStack, flow: DemoFlow): Promise<FlowReport> {
  const step = new DemoStep(stack, flow.name);
  const problems: string[] = [];
  const { reference, steps } = step;
  let outcome: Ending | undefined;
  let moved: readonly Movement[] | undefined;
  try {
    stack.signal.throwIfAborted();
    if (flow.after !== undefined) await orAborted(flow.after, stack.signal);
    step.begin();
    if (flow.where === 'embedded') step.enter(await orAborted(stack.embedded(), stack.signal));
    outcome = await orAborted(flow.run(step), stack.signal);
    step.step(sentenceOf(outcome, flow.success));
    problems.push(...faultsOf(outcome, expectedOf(flow, outcome)));
  } catch (error) {
    problems.push(messageOf(stack.signal.aborted ? stack.signal.reason : error));
  }
  try {
    moved = movements(await orAborted(step.ledger(), AbortSignal.timeout(LEDGER_LIMIT_MS)));
    const sandbox = flow.where === undefined ? 'sandbox' : `${flow.where} sandbox`;
    step.step(`the ledger of the ${sandbox} shows ${sentenceOfMovements(moved)}`);
    problems.push(...movementFaults(moved, expectedOf(flow, outcome).moved));
  } catch (error) {
    problems.push(`its ledger could not be read: ${messageOf(error)}`);
  }
  for (const [index, problem] of problems.entries()) problems[index] = `${reference}: ${problem}`;
  const link = workflowLink(stack.context, step.workflowId, step.world?.namespace);
  return {
    name: flow.name,
    title: flow.title,
    success: flow.success,
    reference,
    link,
    steps,
    problems,
    ...(outcome && { outcome }),
    ...(moved && { moved }),
  };
}

function expectedOf({ expected, orElse }: DemoFlow, outcome: Ending | undefined): Expected {
  return orElse !== undefined && outcome?.status === orElse.status ? orElse : expected;
}

function faultsOf(outcome: Ending, expected: Expected): string[] {
  const faults: string[] = [];
  const { status } = outcome;
  const known = knownBy(outcome);
  if (status !== expected.status) faults.push(`it ended ${status}, not ${expected.status}.`);
  if (known !== undefined && !expected.knownBy.includes(known)) {
    faults.push(`its outcome is known by ${known}, not by ${expected.knownBy.join(' or ')}.`);
  }
  return faults;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
