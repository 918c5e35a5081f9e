import { SCENARIOS as OF_ATTACK } from '../../../scripts/attack/mixed/scenarios.js';
import { FURTHER_SCENARIOS } from './further-scenarios.js';
import type { CampaignScenario } from './scenario.js';

/** Every flow and command there is. */
export const SCENARIOS: readonly CampaignScenario[] = [...OF_ATTACK, ...FURTHER_SCENARIOS];
