import { ApplicationFailure } from '@temporalio/common';
import { HoldfastError } from '../src/client/errors.js';
import type { HoldfastClient } from '../src/client/holdfast-client.js';
import type { ChildFlow, ChildFlows, FlowActivities } from '../src/contract/child-flows.js';
import { ASK_FLOW_ACTIVITY } from '../src/contract/names.js';

const WAIT = { waitFor: '25 seconds' } as const;
/** What a flow answers before it has ended. */
const NOT_FINAL: ReadonlySet<string> = new Set(['authorized', 'pending', 'underReview', 'unknown']);

type Ask<Flow extends ChildFlow> = (holdfast: HoldfastClient, input: ChildFlows[Flow]['input']) => Promise<object>;
const ASKS: { readonly [Flow in ChildFlow]: Ask<Flow> } = {
  charge: (holdfast, input) => holdfast.charge(input, WAIT),
  authorizeAndCapture: (holdfast, input) => holdfast.authorize(input, WAIT),
  credit: (holdfast, input) => holdfast.credit(input, WAIT),
  storeCard: (holdfast, input) => holdfast.storeCard(input, WAIT),
  analyseRisk: (holdfast, input) => holdfast.analyseRisk(input, WAIT),
};

/** The activities by which a merchant's workflow joins a flow that it has not started itself. */
export function flowActivities(holdfast: HoldfastClient): FlowActivities {
  return {
    async [ASK_FLOW_ACTIVITY](flow, input) {
      try {
        const outcome = await (ASKS[flow] as Ask<ChildFlow>)(holdfast, input as never);
        return { outcome, final: !NOT_FINAL.has((outcome as { status: string }).status) };
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
        throw ApplicationFailure.create({ message: error.message, type: error.type, details: [...error.faults] });
      }
    },
  };
}
