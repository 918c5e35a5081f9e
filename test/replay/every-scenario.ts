import { CARD_SCENARIOS } from './card-scenarios.js';
import type { VirtualTimeOptions } from '../support/virtual-time.js';
import { NOTIFY_SECRET } from '../support/telling.js';
import { unitsWithRisk } from '../support/reset-paths.js';
import { GUARDED_SCENARIOS, LIMITED_UNIT, LONG_GUARDED_SCENARIOS, PER_CALL } from './guarded-scenarios.js';
import { HOLD_SCENARIOS } from './hold-scenarios.js';
import { LONG_CARD_SCENARIOS } from './long-card-scenarios.js';
import { LONG_HOLD_SCENARIOS } from './long-hold-scenarios.js';
import { LONG_SCENARIOS, type LongScenario } from './long-scenarios.js';
import { NOTIFICATION_SCENARIOS } from './notification-scenarios.js';
import { RISK_SCENARIOS } from './risk-scenarios.js';
import { type Scenario, SCENARIOS } from './scenarios.js';
import { SHORT_SUBSCRIPTION_SCENARIOS, SUBSCRIPTION_SCENARIOS } from './subscription-scenarios.js';

/** One golden history each, by name: those that take seconds. */
export const EVERY_SCENARIO: Readonly<Record<string, Scenario>> = {
  ...SCENARIOS,
  ...HOLD_SCENARIOS,
  ...RISK_SCENARIOS,
  ...CARD_SCENARIOS,
  ...SHORT_SUBSCRIPTION_SCENARIOS,
  ...GUARDED_SCENARIOS,
};

/** What the worker of all of those has in its environment. */
export const SCENARIO_WORKER_ENV = {
  HOLDFAST_BUSINESS_UNITS: unitsWithRisk([LIMITED_UNIT], { voidAfterPartialCapture: true }),
  HOLDFAST_NOTIFY_SECRET: NOTIFY_SECRET,
  HOLDFAST_NOTIFY_HOSTS: '127.0.0.1',
  HOLDFAST_NOTIFY_PRIVATE: '1',
};

/** Where a long one is run. */
export function timeOf(name: string): VirtualTimeOptions {
  return { billing: true, ...(name in LONG_GUARDED_SCENARIOS && { perCall: PER_CALL }) };
}

/** Those that take hours or days, in skipped time. */
export const EVERY_LONG_SCENARIO: Readonly<Record<string, LongScenario>> = {
  ...LONG_SCENARIOS,
  ...LONG_HOLD_SCENARIOS,
  ...LONG_CARD_SCENARIOS,
  ...SUBSCRIPTION_SCENARIOS,
  ...NOTIFICATION_SCENARIOS,
  ...LONG_GUARDED_SCENARIOS,
};
