import { z } from 'zod';
import { businessUnitSchema, instantSchema, uuidSchema, personSchema } from './fields.js';
import { type OutputOf, SharedSchema } from './shared-schema.js';
import { MISSED_PERIODS } from './subscription.js';

/** Workflow type that gives one command to many subscriptions. It moves no money. */
export const BULK_WORKFLOW = 'bulk';
const BULK_PREFIX = 'bulk-';
/** Memo: hash of the input, by which a repeated start is told from another one of the same name. */
export const BULK_MEMO = 'holdfastBulk';
/** Memo: `id` of the input, which goes on with the same bulk. */
export const BULK_ID_MEMO = 'holdfastBulkId';

export function bulkWorkflowId({ name }: { name: string }): string {
  return `${BULK_PREFIX}${name}`;
}

/** Cards that one bulk can change: they are its input, which the engine limits. */
const MOST_CARDS = 10_000;

const cards = z
  .array(z.strictObject({ from: uuidSchema.zod, to: uuidSchema.zod }))
  .min(1, { error: 'names no card' })
  .max(MOST_CARDS, { error: `names more than ${MOST_CARDS} cards: split it into several bulks` })
  .superRefine((all, context) => {
    const froms = new Map<string, number>();
    for (const [at, { from }] of all.entries()) {
      const earlier = froms.get(from.toLowerCase());
      if (earlier === undefined) froms.set(from.toLowerCase(), at);
      else context.addIssue({ code: 'custom', path: [at, 'from'], message: `stands at ${earlier} already` });
    }
    for (const [at, { to }] of all.entries()) {
      const replaced = froms.get(to.toLowerCase());
      if (replaced !== undefined)
        context.addIssue({ code: 'custom', path: [at, 'to'], message: `is itself replaced, at ${replaced}` });
    }
  });

const actionSchema = z.discriminatedUnion('do', [
  z.strictObject({
    do: z.literal('pause'),
    openPeriod: z.enum(['hold', 'drop']).optional(),
    until: instantSchema.zod.optional(),
  }),
  z.strictObject({ do: z.literal('resume'), missedPeriods: z.enum(MISSED_PERIODS).optional() }),
  z.strictObject({ do: z.literal('cancel'), when: z.enum(['now', 'periodEnd', 'undo']) }),
  /** Continues as new on the build that gets new work, as `deploy drain` has it. */
  z.strictObject({ do: z.literal('moveOn') }),
  /** Gives each subscription whose card is a `from` the card `to`, and leaves the others alone. */
  z.strictObject({ do: z.literal('changeCard'), cards }),
]);
type BulkAction = z.output<typeof actionSchema>;

const person = personSchema.zod;

/** Input of workflow `bulk`, whose id is `bulk-<name>`. */
export const bulkInputSchema = new SharedSchema(
  z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, { error: 'is no name: use 1-64 of A-Z a-z 0-9 _ . -' }),
    /**
     * Each subscription takes the command under the name and this id: a repeat acts once. The name alone is used again once
     * the namespace has forgotten its bulk, and subscriptions, which remember longer, would answer with what they did then.
     */
    id: uuidSchema.zod.optional(),
    businessUnit: businessUnitSchema.zod,
    action: actionSchema,
    /** Narrows the open subscriptions of the unit down, in the words of Temporal's visibility. */
    query: z.string().trim().min(1).max(2_000).optional(),
    /** Subscriptions a second. */
    rate: z.number().positive().max(100),
    who: person,
    why: person,
  }),
);
export type BulkInput = OutputOf<typeof bulkInputSchema>;

export const BULK_RESULTS = ['done', 'refused', 'failed'] as const;

/** What has become of one subscription. `failed`: no answer came; it may have taken the command. */
export interface BulkResult {
  subscription: string;
  result: (typeof BULK_RESULTS)[number];
  why?: string;
}

export interface BulkCounts extends Record<BulkResult['result'], number> {
  /** Their card is not among those to be changed. */
  leftAlone: number;
}

/** Subscriptions of one call. */
export const BULK_SLICE = 1_000;

export interface BulkSliceCall {
  /** Workflow id: all up to it are done. */
  after?: string;
  /** Epoch ms. */
  begun: number;
}

export interface BulkSlice {
  results: BulkResult[];
  leftAlone: number;
  /** The last workflow id that was looked at, while there are more. */
  last?: string;
}

/** They read what is asked in the input of the calling workflow, which may be long. */
export interface BulkActivities {
  bulkSlice(call: BulkSliceCall): Promise<BulkSlice>;
}

/** Answer of query `status`, and the workflow's result. */
export interface BulkStatus extends BulkCounts {
  status: 'started' | 'completed';
  name: string;
  businessUnit: string;
  action: BulkAction['do'];
}

/** Said by `explain` until all is done, also of a run that was stopped. */
export const BULK_UNDER_WAY = 'is under way';

/** A run of a subscription. */
export interface BulkTarget {
  workflowId: string;
  runId: string;
}

/** The Temporal calls of a bulk, implemented in `src/client`. */
export interface BulkPort {
  inputOf(workflowId: string, runId: string): Promise<unknown>;
  /** Those that are open now, by workflow id. @param begun epoch ms: when the bulk began */
  targets(input: BulkInput, begun: number): Promise<BulkTarget[]>;
  /** undefined: it is left alone. */
  command(input: BulkInput, target: BulkTarget): Promise<BulkResult | undefined>;
}
