import { CARD_SCENARIOS } from './card-scenarios.js';
import { CHARGE_SCENARIOS } from './charge-scenarios.js';
import { HOLD_SCENARIOS } from './hold-scenarios.js';
import type { Scenario } from './scenario.js';
import { SUBSCRIPTION_SCENARIOS } from './subscription-scenarios.js';

/** Covers every flow and command. */
export const SCENARIOS: readonly Scenario[] = [
  ...CHARGE_SCENARIOS,
  ...HOLD_SCENARIOS,
  ...CARD_SCENARIOS,
  ...SUBSCRIPTION_SCENARIOS,
];

export const FLOWS = ['charge', 'mixed'] as const;
/** Scenarios to run: charges alone, or all. */
export type Flows = (typeof FLOWS)[number];

export function scenariosOf(flows: Flows): readonly Scenario[] {
  return flows === 'mixed' ? SCENARIOS : SCENARIOS.filter(({ isChargeAlone }) => isChargeAlone === true);
}
