import { SCENARIOS as OF_ATTACK } from '../../../scripts/attack/mixed/scenarios.js';
import type { CampaignScenario } from './scenario.js';

/** Every flow and command there is. */
export const SCENARIOS: readonly CampaignScenario[] = [...OF_ATTACK];
