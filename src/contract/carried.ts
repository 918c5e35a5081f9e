/** Version of `CarriedFlow`. Code that doesn't know the version leaves the flow to code that does. */
export const CARRIED_VERSION = 1;

/** One call in progress, with all the state needed to resume it. */
export interface CarriedFrame {
  name: string;
  notes: object;
}

/**
 * Plain data that a payment flow passes to its next run when it continues as new. Each command is stored once in
 * `commands`; `state` and `frames` refer to it as `{ "$command": <id> }`.
 */
export interface CarriedFlow {
  v: typeof CARRIED_VERSION;
  state: Record<string, unknown>;
  commands: unknown[];
  /** Outermost first. */
  frames: CarriedFrame[];
}
