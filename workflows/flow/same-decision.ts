import type { DecideReview } from '../../src/contract/commands.js';
import type { SettleManually } from '../../src/contract/messages.js';
import { canonical } from './canonical.js';
import type { Command, FlowState } from './state.js';

type Decision = SettleManually | DecideReview;

/**
 * The decision that is given once more without an id, because its answer was lost: the same words of the same person. One that
 * has been carried out is meant only where nothing waits for another: a second operation may need the same one.
 */
export function sameDecision(flow: FlowState, name: Command['name'], request: Decision): Command | undefined {
  if (request.commandId !== undefined) return undefined;
  const isOpen = name === 'settleManually' ? flow.settleable : flow.status === 'underReview';
  return [...flow.commands.values()].find(
    (earlier) =>
      earlier.name === name &&
      saidBySame(earlier.request as Decision, request) &&
      (earlier.answer === undefined || (!isOpen && 'outcome' in earlier.answer && !isOfAnother(flow, earlier))),
  );
}

/**
 * The same words, given for an operation that is over: whether they are meant for the one under way nobody can tell, and its
 * money may have moved. They need a command id.
 */
export function decidedAnother(flow: FlowState, name: Command['name'], request: Decision): Command | undefined {
  if (request.commandId !== undefined) return undefined;
  return [...flow.commands.values()].find(
    (earlier) =>
      earlier.name === name &&
      saidBySame(earlier.request as Decision, request) &&
      earlier.answer !== undefined &&
      'outcome' in earlier.answer &&
      isOfAnother(flow, earlier),
  );
}

/** The operation under way, or the last one. */
export function operationOf({ kind, stepStartedAt }: FlowState): string {
  return `${kind} of ${stepStartedAt}`;
}

function isOfAnother(flow: FlowState, { decides }: Command): boolean {
  return decides !== undefined && decides !== operationOf(flow);
}

function saidBySame(a: Decision, b: Decision): boolean {
  return a.who === b.who && a.why === b.why && canonical(a) === canonical(b);
}
