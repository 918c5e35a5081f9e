import { ApplicationFailure } from '@temporalio/workflow';
import { HOUR_MS } from '../../src/contract/time-units.js';
import { messageOf } from '../../src/contract/message-of.js';
import type { CreateRiskAnalysisCall } from '../../src/contract/activity-calls.js';
import { durationMs } from '../../src/contract/fields.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import { WIRE_DETAILS } from '../../src/contract/names.js';
import type { FinalStepOutcome, RiskVerdict } from '../../src/contract/outcome.js';
import type { RiskInput } from '../../src/contract/risk.js';
import type { RiskAnalysisRecord } from '../../src/contract/records.js';
import { findOurs } from '../../src/domain/ownership.js';
import { KEY_WINDOW_MS } from '../../src/domain/schedules.js';
import { base, evidence } from '../flow/outcomes.js';
import { kept, resumable } from '../flow/continue.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { noteRestore } from '../flow/restored.js';
import { type FlowState, noteRequestId } from '../flow/state.js';
import { takeBackReason } from '../flow/explain.js';
import { read } from '../policies.js';
import { attempt, type Attempted, type Found, type Step } from './attempt.js';
import { beginStep, CANCELLED, resolveUnknown, type MoneyStep } from './money-step.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { earlyVoid } from './early-void.js';
import { askOperator } from './operator.js';
import { noteListAnswer, noteListRefusal } from './failures.js';
import { review, type ReviewTerms } from './review.js';
import { stopIfCancelled } from '../flow/earlier-runs.js';

const DEFAULT_REVIEW_MS = 24 * HOUR_MS;

/** What a risk analysis request contains besides the payment. */
interface Analysed {
  paymentMethod?: { token: string } | undefined;
  clientIpAddress?: string | undefined;
}

/** What is known of the analysis before a money operation. */
export interface RiskNotes {
  verdict?: RiskVerdict;
  /** Whether the money operation has begun. */
  begins?: boolean;
}

/**
 * Analyses the risk, and begins the money operation unless the risk forbids it. Returns whether it has begun.
 * @throws CancelledFailure if a cancel came before the money operation
 */
export async function passesRisk(
  flow: FlowState,
  input: Analysed & { risk: Asked },
  kind: 'charge' | 'authorization',
  notes: RiskNotes,
): Promise<boolean> {
  const verdict = await kept(notes, 'verdict', () => analyse(flow, input, input.risk));
  return await kept(notes, 'begins', async () => {
    await stopIfCancelled(flow);
    // A `void` that came during the analysis goes first, whatever the risk provider says: nothing is left to refuse.
    const begins = verdict.decision !== 'decline' || earlyVoid(flow) !== undefined;
    if (begins) beginStep(flow, kind);
    return begins;
  });
}

/**
 * Requests a risk analysis and follows it, through a review if there is one, to a decision. No money moves.
 * @param latest epoch ms by which a review must have ended, whatever its time limit
 * @throws the believed refusal of the service, unless money is held
 */
export async function analyse(
  flow: FlowState,
  input: Analysed,
  risk: Asked,
  latest = Number.POSITIVE_INFINITY,
): Promise<RiskVerdict> {
  const begin = (): AnalysisNotes => {
    beginStep(flow, 'risk-analysis');
    const limit = risk.reviewTimeLimit === undefined ? undefined : durationMs(risk.reviewTimeLimit);
    return { until: Math.min(Date.now() + (limit ?? DEFAULT_REVIEW_MS), latest) };
  };
  return await resumable(flow, 'analyse', begin, (notes) => decide(flow, input, risk, latest, notes));
}

type Asked = Pick<RiskInput, 'sessionId' | 'deviceId' | 'providerSpecificData' | 'reviewTimeLimit'> & {
  onReviewTimeout: ReviewTerms['onTimeout'];
};

interface AnalysisNotes {
  /** Epoch ms. */
  until: number;
  sent?: Attempted<RiskAnalysisRecord>;
}

async function decide(
  flow: FlowState,
  input: Analysed,
  risk: Asked,
  latest: number,
  notes: AnalysisNotes,
): Promise<RiskVerdict> {
  const { until } = notes;
  const key = idempotencyKey(flow.workflowId, 'analyseRisk', 1);
  const step: Step<RiskAnalysisRecord> = {
    operation: 'analyseRisk',
    sequence: 1,
    movesMoney: false,
    postUntil: Math.min(flow.stepStartedAt + KEY_WINDOW_MS, until),
    tryLocally: false,
    post: (activities, call) =>
      activities.createRiskAnalysis({
        ...call,
        paymentId: flow.paymentId ?? '',
        currency: flow.currency,
        riskAnalysis: requestOf(input, risk),
        additionalDetails: { [WIRE_DETAILS.key]: key },
      }),
    find: () => findAnalysis(flow, key),
  };
  const sent = await kept(notes, 'sent', async () => {
    const tried = await (Number.isFinite(latest) ? attemptOnHold(flow, step) : attempt(flow, step));
    if (tried.answer === undefined) {
      const why = `no risk analysis was made (${tried.lastFailure})`;
      askOperator(flow, `${why}; \`decideReview\` or the time limit ends this`);
    }
    noteRequestId(flow, tried.answer?.requestId);
    noteRestore(flow, tried.answer ?? {});
    return tried;
  });
  const terms = { until, latest, onTimeout: risk.onReviewTimeout };
  const verdict = await review(flow, sent.answer, terms, sent.answer === undefined ? 'poll' : sent.knownBy);
  flow.risk = verdict;
  flow.transactionId = undefined;
  for (const command of flow.queue.splice(0)) {
    // The others wait for the money to be held: a void, and after a reset what was given then.
    if (command.name !== 'decideReview') flow.queue.push(command);
    else command.answer = { refusal: `the review has ended: ${verdict.decision}, decided by ${verdict.decidedBy}` };
  }
  takeBackReason(flow, { status: 'started', waitingFor: 'provider', dueAt: null });
  return verdict;
}

/**
 * A refused analysis decides nothing, and must not end a flow that holds money: an operator or the time limit decides.
 */
async function attemptOnHold(flow: FlowState, step: Step<RiskAnalysisRecord>): Promise<Attempted<RiskAnalysisRecord>> {
  try {
    return await attempt(flow, step);
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    return { answer: undefined, lastFailure: error.message };
  }
}

/**
 * Ends a flow because of its risk. Before a reset or a restore the review may have ended otherwise and the money may have
 * moved: then it reads first. So does one that was cancelled during its review, where a task of it was lost.
 */
export async function refuseByRisk(
  flow: FlowState,
  kind: 'charge' | 'authorization',
  step: () => MoneyStep,
): Promise<FinalStepOutcome> {
  // What was cancelled is no decline by the risk provider.
  const isCancel = flow.risk?.decidedBy === 'cancel';
  const why = isCancel ? CANCELLED : 'its risk analysis says decline';
  if (isCancel || decidesAfterReset() || flow.mayBeLost === true) {
    const begin = (): object => {
      beginStep(flow, kind);
      return {};
    };
    const moved = await resumable(flow, 'declinedByRisk', begin, () => resolveUnknown(flow, why, step()));
    if (isCancel || moved.status !== 'notExecuted') return moved;
  }
  return {
    ...base(flow),
    status: 'declined',
    category: 'risk_declined',
    retryable: 'nobody',
    confirmed: true,
    evidence: evidence(flow, flow.risk?.knownBy ?? 'poll'),
  };
}

function requestOf(
  { paymentMethod, clientIpAddress }: Analysed,
  { sessionId, deviceId, providerSpecificData }: Pick<RiskInput, 'sessionId' | 'deviceId' | 'providerSpecificData'>,
): CreateRiskAnalysisCall['riskAnalysis'] {
  return {
    transactionType: 'charge',
    ...(paymentMethod !== undefined && { paymentMethod: { type: 'tokenized' as const, token: paymentMethod.token } }),
    ...(clientIpAddress !== undefined && { clientIpAddress }),
    ...(sessionId !== undefined && { sessionId }),
    ...(deviceId !== undefined && { deviceId }),
    ...(providerSpecificData !== undefined && { providerSpecificData }),
  };
}

async function findAnalysis(flow: FlowState, key: string): Promise<Found<RiskAnalysisRecord>> {
  const { businessUnit, madeUnder, currency, paymentId = '' } = flow;
  let listed: RiskAnalysisRecord[];
  try {
    listed = await read.listRiskAnalyses({ businessUnit, madeUnder, paymentId, currency });
  } catch (error) {
    const refusal = noteListRefusal(flow, 'risk-analysis', error);
    return {
      unreadable: messageOf(error),
      ...(refusal !== undefined && { refusal }),
    };
  }
  noteListAnswer(flow, 'risk-analysis');
  const records = decodedOrRetry(listed);
  const ours = findOurs(records, { key });
  return { found: records.find(({ transactionId }) => transactionId === ours.found?.transactionId) };
}
