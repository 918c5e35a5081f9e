import { z } from 'zod';
import { businessUnitSchema, personSchema } from './fields.js';
import { type OutputOf, SharedSchema } from './shared-schema.js';

/** Workflow type, and id, of the one flow that keeps the brakes of all business units. It moves no money. */
export const BRAKES_WORKFLOW = 'brakes';
/** Its updates. */
export const BRAKE_UPDATE = 'brake';
export const RELEASE_UPDATE = 'release';
/** How the id of an update begins that is given to this run: a reset gives it again to another one, under the same id. */
export const givenTo = (runId: string): string => `${runId}:`;
/** Its memo, which workers read: that needs no worker. Encrypted, as every memo. */
export const BRAKES_MEMO = 'holdfastBrakes';

/** ms. A worker that reaches Temporal knows of a brake, or a release, within this time. */
export const BRAKE_KNOWN_WITHIN_MS = 5_000;

const person = personSchema.zod;
const named = { businessUnit: businessUnitSchema.zod, who: person, why: person };

export const brakeSchema = new SharedSchema(
  z.strictObject({
    ...named,
    /** Stops captures too, but never that of a hold's deadline. */
    captures: z.boolean().optional(),
    refunds: z.boolean().optional(),
  }),
);
export type BrakeRequest = OutputOf<typeof brakeSchema>;

export const releaseSchema = new SharedSchema(
  z.strictObject({
    ...named,
    /**
     * `at` of the last brake of the unit, the one that is meant: one that was set later, by whomever, is not released, such
     * as by this request given again after a lost answer.
     */
    since: z.string().max(40).optional(),
  }),
);
export type ReleaseRequest = OutputOf<typeof releaseSchema>;

/** Of a business unit: what is stopped, by whom and why. */
export interface Brake extends BrakeRequest {
  /** ISO 8601 UTC: since when it is braked, whoever has changed the brake meanwhile. */
  since: string;
}

export interface BrakeChange extends BrakeRequest {
  did: 'brake' | 'release';
  /** ISO 8601 UTC. */
  at: string;
}

/** What the flow keeps, hands to its next run, and shows in its memo. */
export interface Brakes {
  braked: Brake[];
  /** Over all units, the latest last: 50, and the last brake of each unit that is braked. */
  changes: BrakeChange[];
}

/** Answer to a brake and to a release: how it stands now. */
export interface BrakesAfter extends Brakes {
  /** The unit's brake before; undefined: it had none. */
  before?: Brake;
}

/** What a POST to the payment service does, as far as a brake can stop it. */
export type Stoppable = 'payments' | 'captures' | 'refunds';
