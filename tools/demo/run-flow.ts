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
  /** Compares the ledger once more. */
  readAgain(): Promise<Pick<FlowReport, 'moved' | 'problems'>>;
}

/** Runs one flow and compares its outcome and the ledger with what is expected. Never throws. */
export async function runFlow(stack: DemoStack, flow: DemoFlow): Promise<FlowReport> {
  const step = new DemoStep(stack, flow.name);
  const problems: string[] = [];
  const { reference, steps } = step;
  let outcome: Ending | undefined;
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
  const read = async (): Promise<Pick<FlowReport, 'moved' | 'problems'>> => {
    const { moved, faults } = await ledgerOf(step, expectedOf(flow, outcome));
    return {
      ...(moved && { moved }),
      problems: [...problems, ...faults].map((problem) => `${reference}: ${problem}`),
    };
  };
  const { moved, problems: all } = await read();
  if (moved !== undefined) {
    const sandbox = flow.where === undefined ? 'sandbox' : `${flow.where} sandbox`;
    step.step(`the ledger of the ${sandbox} shows ${sentenceOfMovements(moved)}`);
  }
  const link = workflowLink(stack.context, step.workflowId, step.world?.namespace);
  return {
    name: flow.name,
    title: flow.title,
    success: flow.success,
    reference,
    link,
    steps,
    problems: all,
    ...(outcome && { outcome }),
    ...(moved && { moved }),
    readAgain: read,
  };
}

async function ledgerOf(
  step: DemoStep,
  expected: Expected,
): Promise<{ moved?: readonly Movement[]; faults: string[] }> {
  try {
    const moved = movements(await orAborted(step.ledger(), AbortSignal.timeout(LEDGER_LIMIT_MS)));
    return { moved, faults: movementFaults(moved, expected.moved) };
  } catch (error) {
    return { faults: [`its ledger could not be read: ${messageOf(error)}`] };
  }
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
