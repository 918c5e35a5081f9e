import type { FlowState } from './state.js';

const LONGEST_REASON = 1_000;

const MORE = 'there are more such events: look at the payment in the back office of the service';

/** Adds to earlier reasons: an operator who has looked into the first one only must not clear them all. */
export function addLasting(flow: FlowState, why: string): void {
  const { lasting } = flow;
  const all = lasting === undefined ? why : `${lasting}; and ${why}`;
  if (lasting?.includes(why) === true) return;
  if (all.length <= LONGEST_REASON) flow.lasting = all;
  else if (lasting?.includes(MORE) !== true) flow.lasting = `${lasting ?? ''}; and ${MORE}`;
}

/** A signed event was dropped: no reason will ever name it. */
export function addMoreLasting(flow: FlowState): void {
  addLasting(flow, MORE);
}
