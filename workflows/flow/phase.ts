import type { Happening, StatefulFlow } from '../../src/domain/flow-states.js';
import { nextPhase } from '../../src/domain/flow-states.js';
import type { FlowState } from './state.js';
import { ignore } from './state.js';

/** Moves the flow along the lines of `flow-states.ts`. What can't happen there is counted, and moves nothing. */
export function happen(flow: FlowState, on: Happening): void {
  const next = nextPhase(flow.type as StatefulFlow, flow.phase, on);
  if (next === undefined) ignore(flow, `${on} while ${flow.phase}`);
  else flow.phase = next;
}

/** By how the money operation under way has ended. */
export function happened(flow: FlowState, { status }: { status: string }): void {
  if (status === 'succeeded') happen(flow, 'done');
  else happen(flow, status === 'declined' ? 'failed' : 'absent');
}
