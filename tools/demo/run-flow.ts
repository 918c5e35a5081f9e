import { workflowLink } from './context.js';
import { knownBy, type DemoFlow, type Ending, type Expected } from './demo-flow.js';
import { sentenceOf } from './endings.js';
import { movementFaults, movementsOf, sentenceOfMovements, type Movement } from './movements.js';
import { orAborted } from './or-aborted.js';
import type { FlowName } from './references.js';
import { Scene, type Step } from './scene.js';
import type { Stage } from './stage.js';

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
export async function play(stage: Stage, flow: DemoFlow): Promise<FlowReport> {
  const scene = new Scene(stage, flow.name);
  const problems: string[] = [];
  const { reference, steps } = scene;
  let outcome: Ending | undefined;
  let moved: readonly Movement[] | undefined;
  try {
    stage.signal.throwIfAborted();
    if (flow.after !== undefined) await orAborted(flow.after, stage.signal);
    scene.begin();
    if (flow.where === 'throwaway') scene.enter(await orAborted(stage.throwaway(), stage.signal));
    outcome = await orAborted(flow.run(scene), stage.signal);
    scene.step(sentenceOf(outcome, flow.success));
    problems.push(...faultsOf(outcome, expectedOf(flow, outcome)));
  } catch (error) {
    problems.push(messageOf(stage.signal.aborted ? stage.signal.reason : error));
  }
  try {
    moved = movementsOf(await orAborted(scene.ledger(), AbortSignal.timeout(LEDGER_LIMIT_MS)));
    const sandbox = flow.where === undefined ? 'sandbox' : `${flow.where} sandbox`;
    scene.step(`the ledger of the ${sandbox} shows ${sentenceOfMovements(moved)}`);
    problems.push(...movementFaults(moved, expectedOf(flow, outcome).moved));
  } catch (error) {
    problems.push(`its ledger could not be read: ${messageOf(error)}`);
  }
  for (const [index, problem] of problems.entries()) problems[index] = `${reference}: ${problem}`;
  const link = workflowLink(stage.context, scene.workflowId, scene.world?.namespace);
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
