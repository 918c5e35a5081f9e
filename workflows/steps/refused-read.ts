import { ApplicationFailure } from '@temporalio/workflow';
import type { FailureDetails } from '../../src/contract/failure-types.js';
import { isNotOffered, noteRefusedRead, type RefusedReads, REFUSING_STATUSES } from '../../src/domain/refused-reads.js';
import type { FlowState, StepKind } from '../flow/state.js';
import { classifyFailure } from './classify-failure.js';

/** How the service, or the unit's setting, refused a read. */
export interface ReadRefusal {
  /** For an operator, as the end of a sentence. */
  how: string;
  bySetting: boolean;
  /** By repeated refusals or by the unit's setting the service counts as not offering it (money rule 6). */
  notOffered: boolean;
}

/** Returns undefined for every other failure: a service that is down or answers garbage may answer the next time. */
export function readRefusal(error: unknown): Omit<ReadRefusal, 'notOffered'> | undefined {
  const { error: cause } = classifyFailure(error);
  if (!(cause instanceof ApplicationFailure)) return undefined;
  const { httpStatus, notOffered } = (cause.details?.[0] ?? {}) as Partial<FailureDetails>;
  if (notOffered === true) return { how: "is not asked, by the business unit's setting", bySetting: true };
  if (httpStatus === undefined || !REFUSING_STATUSES.includes(httpStatus)) return undefined;
  return { how: `is answered with ${httpStatus}`, bySetting: false };
}

/** Counts a refused list of this kind; returns undefined if it failed otherwise. */
export function noteListRefusal(flow: FlowState, kind: StepKind, error: unknown): ReadRefusal | undefined {
  return noteRefusal(flow.refusedLists, kind, error);
}

export function noteRefusal(
  refusals: Partial<Record<StepKind, RefusedReads>>,
  kind: StepKind,
  error: unknown,
): ReadRefusal | undefined {
  const refusal = readRefusal(error);
  if (refusal === undefined) return undefined;
  const refused = noteRefusedRead(refusals[kind], Date.now(), refusal.bySetting);
  refusals[kind] = refused;
  return { ...refusal, notOffered: isNotOffered(refused) };
}

/** The list was answered, so the service offers it: earlier refusals don't count. */
export function noteListAnswer(flow: FlowState, kind: StepKind): void {
  delete flow.refusedLists[kind];
}
