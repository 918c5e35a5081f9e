import type { AuthorizeOutcome, FinalAuthorizeOutcome } from './authorize.js';
import type { FinalStoreCardOutcome, StoreCardOutcome } from './cards.js';
import type { ChargeOutcome, FinalChargeOutcome } from './charge.js';
import type { FinalRiskOutcome, RiskOutcome } from './risk.js';

/** What any payment flow can end with, and what it can answer before. */
export type FinalOutcome = FinalChargeOutcome | FinalAuthorizeOutcome | FinalRiskOutcome | FinalStoreCardOutcome;
export type Outcome = ChargeOutcome | AuthorizeOutcome | RiskOutcome | StoreCardOutcome;
