import type { AuthorizeInput, FinalAuthorizeOutcome } from './authorize.js';
import type { FinalStoreCardOutcome, StoreCardInput } from './cards.js';
import type { ChargeInput, CreditInput, FinalChargeOutcome, FinalCreditOutcome } from './charge.js';
import type { ASK_FLOW_ACTIVITY } from './names.js';
import type { AnalyseRiskInput, FinalRiskOutcome } from './risk.js';

/** Input and final outcome of the flows that a merchant's workflow may start as children. */
export interface ChildFlows {
  charge: { input: ChargeInput; outcome: FinalChargeOutcome };
  authorizeAndCapture: { input: AuthorizeInput; outcome: FinalAuthorizeOutcome };
  credit: { input: CreditInput; outcome: FinalCreditOutcome };
  storeCard: { input: StoreCardInput; outcome: FinalStoreCardOutcome };
  analyseRisk: { input: AnalyseRiskInput; outcome: FinalRiskOutcome };
}
export type ChildFlow = keyof ChildFlows;

/** Activities that `holdfast/worker` adds to a merchant's own worker. */
export interface FlowActivities {
  /** Asks the flow of this input's reference, open or ended. `final`: it has ended with this outcome. */
  [ASK_FLOW_ACTIVITY]: (flow: ChildFlow, input: object) => Promise<{ outcome: object; final: boolean }>;
}
