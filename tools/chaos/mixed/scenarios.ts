import { CARD_SCENARIOS } from './card-scenarios.js';
import { CHARGE_SCENARIOS } from './charge-scenarios.js';
import { HOLD_SCENARIOS } from './hold-scenarios.js';
import type { Scenario } from './scenario.js';
import { SUBSCRIPTION_SCENARIOS } from './subscription-scenarios.js';

export const SCENARIOS: readonly Scenario[] = [
  ...CHARGE_SCENARIOS,
  ...HOLD_SCENARIOS,
  ...CARD_SCENARIOS,
  ...SUBSCRIPTION_SCENARIOS,
];
