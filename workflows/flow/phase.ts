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

/** By how the money operation under way has ended, which it gives back. */
export function happened<Ended extends { status: string }>(flow: FlowState, ended: Ended): Ended {
  if (ended.status === 'succeeded') happen(flow, 'done');
  else happen(flow, ended.status === 'declined' ? 'failed' : 'absent');
  return ended;
}
