import { SCENARIOS as OF_CHAOS } from '../../../tools/chaos/scenarios/scenarios.js';
import { FURTHER_SCENARIOS } from './further-scenarios.js';
import { GUARDED_SCENARIOS } from './guarded-scenarios.js';
import type { CampaignScenario } from './scenario.js';

/** Every flow and command there is. */
export const SCENARIOS: readonly CampaignScenario[] = [...OF_CHAOS, ...FURTHER_SCENARIOS, ...GUARDED_SCENARIOS];

const PLAIN = [
  'charge with any card',
  'charge after risk analysis',
  'credit',
  'authorize with any card, auto',
  'card on file, any card',
  'charge with a CVV',
  'risk analysis alone',
];
/** A payment from one question to its answer. */
export const PLAIN_SCENARIOS: readonly CampaignScenario[] = SCENARIOS.filter(({ name }) => PLAIN.includes(name));
