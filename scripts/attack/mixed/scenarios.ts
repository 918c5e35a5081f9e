import { CHARGE_SCENARIOS } from './charge-scenarios.js';
import { HOLD_SCENARIOS } from './hold-scenarios.js';
import type { Scenario } from './scenario.js';

export const SCENARIOS: readonly Scenario[] = [...CHARGE_SCENARIOS, ...HOLD_SCENARIOS];
