import type { AuthorizeOutcome, FinalAuthorizeOutcome } from './authorize.js';
import type { FinalStoreCardOutcome, StoreCardOutcome } from './cards.js';
import type { ChargeOutcome, FinalChargeOutcome } from './charge.js';
import type { FinalRiskOutcome, RiskOutcome } from './risk.js';

/** Final outcomes of all payment flows, and all answers including those before the end. */
export type FinalOutcome = FinalChargeOutcome | FinalAuthorizeOutcome | FinalRiskOutcome | FinalStoreCardOutcome;
export type Outcome = ChargeOutcome | AuthorizeOutcome | RiskOutcome | StoreCardOutcome;
