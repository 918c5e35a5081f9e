/** Of what a payment flow hands to its next run: code that does not know it leaves the flow to code that does. */
export const CARRIED_VERSION = 1;

/** One call of the flow's program that is under way, with all that it has to remember to be taken up again. */
export interface CarriedStage {
  name: string;
  notes: object;
}

/**
 * What a payment flow hands to its next run when it continues as new: plain data. Commands stand here once each; where
 * `state` or a stage speaks of one, `{ "$command": <id> }` stands in its place.
 */
export interface CarriedFlow {
  v: typeof CARRIED_VERSION;
  state: Record<string, unknown>;
  commands: unknown[];
  /** Outermost first. */
  stages: CarriedStage[];
}
