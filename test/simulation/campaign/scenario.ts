import type { DriverContext } from '../../../tools/chaos/driver/driver-context.js';
import type { FlowDriver } from '../../../tools/chaos/driver/flow-driver.js';
import type { Pick } from '../../../tools/chaos/scenarios/scenario.js';
import type { ProfileUnit } from '../../../tools/stack/profile-units.js';
import type { Simulation } from '../simulation.js';
import type { Seeded } from '../world/seeded.js';
import type { Counts } from './counts.js';

/** What a course of events can reach beside its driver. */
export interface ScenarioContext {
  readonly simulation: Simulation;
  readonly unit: ProfileUnit;
  readonly random: Seeded;
  readonly counts: Counts;
  readonly parts: DriverContext;
}

/** A course of events, from the first question to the last. */
export interface CampaignScenario {
  readonly name: string;
  /** Its holds end within a minute or so. */
  readonly brief?: true;
  run(driver: FlowDriver, pick: Pick, context: ScenarioContext): Promise<void>;
}
