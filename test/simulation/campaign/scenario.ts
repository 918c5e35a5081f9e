import type { Desk, DeskParts } from '../../../tools/chaos/mixed/desk.js';
import type { Pick } from '../../../tools/chaos/mixed/scenario.js';
import type { ProfileUnit } from '../../../tools/chaos/profile-units.js';
import type { Simulation } from '../simulation.js';
import type { Seeded } from '../world/seeded.js';
import type { Counts } from './counts.js';

/** What a course of events can reach beside its desk. */
export interface Scene {
  readonly simulation: Simulation;
  readonly unit: ProfileUnit;
  readonly random: Seeded;
  readonly counts: Counts;
  readonly parts: DeskParts;
}

/** A course of events, from the first question to the last. */
export interface CampaignScenario {
  readonly name: string;
  /** Its holds end within a minute or so. */
  readonly brief?: true;
  play(desk: Desk, pick: Pick, scene: Scene): Promise<void>;
}
