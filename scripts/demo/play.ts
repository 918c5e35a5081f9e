import type { FinalChargeOutcome } from '../../src/contract/charge.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import { workflowLink } from './context.js';
import type { DemoFlow } from './flows.js';
import { orAborted } from './or-aborted.js';
import { AMOUNT, CURRENCY, movementsOf, PRICE, Scene, type Step } from './scene.js';
import type { Stage } from './stage.js';

const LEDGER_LIMIT_MS = 3_000;

/** How one flow went. */
export interface FlowReport {
  title: string;
  reference: string;
  link: string;
  steps: readonly Step[];
  /** Absent when the flow did not end. */
  outcome?: FinalChargeOutcome;
  /** Movements of money in the ledger; absent when it could not be read. */
  movements?: number;
  problems: readonly string[];
}

/** Runs one flow and compares its end, and what the ledger shows, with what must be. Never throws. */
export async function play(stage: Stage, flow: DemoFlow): Promise<FlowReport> {
  const scene = new Scene(stage, flow.name);
  const problems: string[] = [];
  const report = { title: flow.title, reference: scene.reference, steps: scene.steps, problems };
  const link = workflowLink(stage.context, paymentWorkflowId(scene.reference));
  let outcome: FinalChargeOutcome | undefined;
  let movements: number | undefined;
  try {
    stage.signal.throwIfAborted();
    outcome = await orAborted(flow.run(scene), stage.signal);
    scene.step(sentenceOf(outcome));
    problems.push(...faultsOf(outcome, flow));
  } catch (error) {
    problems.push(messageOf(stage.signal.aborted ? stage.signal.reason : error));
  }
  try {
    const moved = movementsOf(await orAborted(scene.ledger(), AbortSignal.timeout(LEDGER_LIMIT_MS)));
    movements = moved.length;
    scene.step(`the ledger of the sandbox shows ${countOf(movements)}`);
    problems.push(...ledgerFaults(moved, flow.expected.movements));
  } catch (error) {
    problems.push(`its ledger could not be read: ${messageOf(error)}`);
  }
  for (const [index, problem] of problems.entries()) problems[index] = `${scene.reference}: ${problem}`;
  return { ...report, link, ...(outcome && { outcome }), ...(movements !== undefined && { movements }) };
}

const KNOWN_BY = {
  reply: 'by the reply of the service',
  webhook: 'by a signed webhook',
  poll: 'by asking the service',
  operator: 'by an operator',
} as const;

function sentenceOf(outcome: FinalChargeOutcome): string {
  const known = `known ${KNOWN_BY[outcome.evidence.knownBy]}`;
  if (outcome.status === 'succeeded') return `succeeded, ${known}`;
  if (outcome.status === 'notExecuted') return `not executed (${outcome.reason}), ${known}`;
  return `declined (${whyDeclined(outcome)}), ${known}; ${RETRY[outcome.retryable]}`;
}

const RETRY = {
  newReference: 'the same card may be tried again under a new reference',
  newCard: 'only another card may be tried',
  nobody: 'nobody may try it again as it is',
} as const;

/** "category/sub-category" of a declined charge. */
export function whyDeclined({ category, subCategory }: { category: string; subCategory?: string }): string {
  return subCategory === undefined ? category : `${category}/${subCategory}`;
}

function faultsOf(outcome: FinalChargeOutcome, { expected }: DemoFlow): string[] {
  const faults: string[] = [];
  const { status, evidence } = outcome;
  if (status !== expected.status) faults.push(`it ended ${status}, not ${expected.status}.`);
  if (!expected.knownBy.includes(evidence.knownBy)) {
    faults.push(`its outcome is known by ${evidence.knownBy}, not by ${expected.knownBy.join(' or ')}.`);
  }
  return faults;
}

function ledgerFaults(moved: readonly { amount: number; currency: string }[], expected: number): string[] {
  const faults: string[] = [];
  if (moved.length !== expected) {
    faults.push(`the ledger shows ${moved.length} movements of money where ${expected} must be.`);
  }
  for (const { amount, currency } of moved) {
    if (amount !== AMOUNT || currency !== CURRENCY) {
      faults.push(`the ledger shows a movement of ${amount} ${currency} (minor units), not of ${PRICE}.`);
    }
  }
  return faults;
}

function countOf(movements: number): string {
  if (movements === 0) return 'no movement of money';
  return movements === 1 ? `1 movement of ${PRICE}` : `${movements} MOVEMENTS of ${PRICE}`;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
