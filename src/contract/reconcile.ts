import { z } from 'zod';
import { durationSchema } from './fields.js';
import { TRANSACTION_KINDS } from './records.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

/** Workflow types that move no money: they compare what flows say with what the payment service says. */
export const RECONCILIATION_TYPES = { reconcile: 'reconcile', finding: 'finding' } as const;

/** The schedule that `holdfast setup` makes. Temporal adds the time to the workflow id. */
export const RECONCILE_SCHEDULE = { id: 'holdfast-reconcile', workflowId: 'reconcile' } as const;

/** Update of a finding. */
export const ACKNOWLEDGE_UPDATE = 'acknowledge';
/** Memo of a finding, for lists. Encrypted, as every memo. */
export const FINDING_MEMO = 'holdfastFinding';

/** Closed list: part of workflow ids. */
export const FINDING_KINDS = [
  /** The service moved money that no flow accounts for. */
  'moneyWithoutFlow',
  /** It moved the money of one request more than once. */
  'moneyTwice',
  /** Both know the transaction, with another sum, in another currency or of another kind, such as a refund for a charge. */
  'otherAmount',
  /** A flow says that money moved, and the service does not. */
  'flowWithoutMoney',
  /** Both agree in the end, or may yet, but later than the settlement window. */
  'late',
  /** The flow was stopped from outside before it had a result, and nobody follows its money. */
  'unfollowed',
  /** A card holder has had the money of a payment taken back. */
  'disputed',
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** Longest subject: a workflow id may have 1,000 characters. */
const LONGEST_SUBJECT = 400;
const text = z.string().min(1).max(LONGEST_SUBJECT);
const amount = z.number().refine(Number.isSafeInteger, 'is not a whole number of minor units');

/** Input of workflow `finding`. The same difference is one finding for ever: its id is made of it. */
export const findingInputSchema = new SharedSchema(
  z.strictObject({
    kind: z.enum(FINDING_KINDS),
    /** The transaction, or the flow where no transaction is known. */
    subject: text,
    /** One or two sentences for a person. */
    explanation: z.string().min(1).max(2_000),
    /** Whether the service was asked, or its statement or that of an acquirer was read. */
    source: z.enum(['service', 'statement']),
    workflowId: text.optional(),
    reference: text.optional(),
    paymentId: text.optional(),
    transactionId: text.optional(),
    transactionKind: z.enum(TRANSACTION_KINDS).optional(),
    /** What the service says, in minor units; of a flow without money what the flow says. */
    amount: amount.optional(),
    currency: text.optional(),
    businessUnit: text.optional(),
  }),
);
export type Finding = OutputOf<typeof findingInputSchema>;

/**
 * `finding-<kind>-<subject>`, with the sum after it where that is the difference, or what is disputed: somebody who has
 * acknowledged one sum has not acknowledged another one.
 */
export function findingWorkflowId({
  kind,
  subject,
  amount: shown,
  currency,
}: Pick<Finding, 'kind' | 'subject' | 'amount' | 'currency'>): string {
  const isOfSum = kind === 'otherAmount' || kind === 'disputed';
  const sum = isOfSum && shown !== undefined ? `-${shown}-${currency}` : '';
  return `${FINDING_PREFIX}${kind}-${subject}${sum}`;
}
export const FINDING_PREFIX = 'finding-';
export const RECONCILE_PREFIX = 'reconcile-';

const person = z.string().trim().min(1).max(200);
export const acknowledgeSchema = new SharedSchema(
  z.strictObject({ who: person, why: z.string().trim().min(1).max(1_000) }),
);
export type Acknowledge = OutputOf<typeof acknowledgeSchema>;

/** Result of workflow `finding`. Times are ISO 8601 UTC. */
export interface AcknowledgedFinding {
  status: 'acknowledged';
  finding: Finding;
  foundAt: string;
  who: string;
  why: string;
  at: string;
}

/** Answer of query `status` of a finding. */
export interface FindingStatus extends Finding {
  status: 'found' | 'acknowledged';
  needsOperator: boolean;
  acknowledged?: Pick<AcknowledgedFinding, 'who' | 'why' | 'at'>;
}

/** Answer of query `status` of a reconciliation. */
export interface ReconcileStatus extends ReconcileCounts {
  status: 'reconciling' | 'reconciled';
  since: string;
  until: string;
  /** Of the flows that have ended, those that ended before are done. */
  reached?: string;
}

const instant = z.iso.datetime({ offset: true });

/** Input of workflow `reconcile`. Every field has a default: the schedule starts it without one. */
export const reconcileInputSchema = new SharedSchema(
  z
    .strictObject({
      /** Flows that ended from here on. Default: 25 hours before `until`; of the schedule, since its run before if that is earlier. */
      since: instant.optional(),
      /** Exclusive. Default: two hours before the start, since lists lag. */
      until: instant.optional(),
      /** Share of the flows without a doubt that the service is asked about, from 0 to 1. */
      sample: z.number().min(0).max(1).default(0.01),
      /** Questions to the payment service. */
      readsPerSecond: z.number().positive().max(1_000).default(5),
      /** How long money may be on its way before it is late, or missing. */
      settlementWindow: durationSchema.zod.default('1 day'),
    })
    .refine(({ since, until }) => since === undefined || until === undefined || Date.parse(since) < Date.parse(until), {
      path: ['since'],
      error: 'must be before until',
    }),
);
export type ReconcileInput = InputOf<typeof reconcileInputSchema>;

/** What a reconciliation did, and how many differences of each kind it saw. */
export interface ReconcileCounts {
  /** Flows that were looked at. */
  flows: number;
  /** Of these, flows whose payment the service was asked about. */
  asked: number;
  /** Of these, flows with a doubt. */
  doubts: number;
  /** Payments about which the service gave no answer. */
  unanswered: number;
  /** Of these, flows with a doubt that may be answered later. */
  askAgain?: number;
  /** Why, of the first few. */
  reasons: string[];
  /** Differences by kind, those included that were known before. */
  found: Partial<Record<FindingKind, number>>;
  /** Of these, those that were not known before. */
  fresh: number;
}

/** Result of workflow `reconcile`. Times are ISO 8601 UTC. */
export interface ReconcileReport extends ReconcileCounts {
  status: 'reconciled';
  since: string;
  until: string;
  /**
   * Some flows that ended from here on had a doubt and no answer: the schedule's next reconciliation begins here, at most
   * two weeks back.
   */
  askAgainFrom?: string;
  /** Statements that were matched, and why others were refused: the schedule's next run tries again to read an `unread` one. */
  statements?: { name: string; rows: number }[];
  refusedStatements?: { name: string; faults: string[]; unread?: true }[];
}

export function noCounts(): ReconcileCounts {
  return { flows: 0, asked: 0, doubts: 0, unanswered: 0, reasons: [], found: {}, fresh: 0 };
}

/** How many reasons a report keeps. */
const MOST_REASONS = 10;

export function addCounts(to: ReconcileCounts, more: ReconcileCounts): ReconcileCounts {
  const found = { ...to.found };
  for (const kind of FINDING_KINDS) {
    const count = (to.found[kind] ?? 0) + (more.found[kind] ?? 0);
    if (count > 0) found[kind] = count;
  }
  return {
    flows: to.flows + more.flows,
    asked: to.asked + more.asked,
    doubts: to.doubts + more.doubts,
    unanswered: to.unanswered + more.unanswered,
    askAgain: (to.askAgain ?? 0) + (more.askAgain ?? 0),
    reasons: [...to.reasons, ...more.reasons].slice(0, MOST_REASONS),
    found,
    fresh: to.fresh + more.fresh,
  };
}

/** ms. For so long a flow that has ended with a doubt is asked about again, until the service answers. */
export const ASK_AGAIN_MS = 14 * 86_400_000;

/** Which flows: those with a doubt that lists show, or all that ended in a time. */
export type Swept =
  | { which: 'stopped' | 'needsOperator' | 'contradicted' }
  /** Epoch ms, `to` exclusive. */
  | { which: 'ended'; from: number; to: number };

export interface SweepCall {
  swept: Swept;
  /** Epoch ms of the reconciliation's start. */
  now: number;
  sample: number;
  readsPerSecond: number;
  windowMs: number;
  counted?: string[];
}

export interface MatchStatementsCall {
  /** Epoch ms: statements that end before, and were there before, are left alone, except those named by `again`. */
  since: number;
  again?: string[];
  now: number;
  windowMs: number;
  counted?: string[];
}

/** `counted`: hashes of the findings that it has counted, for the calls after it: two flows may show the same one. */
export interface SweptCounts extends ReconcileCounts {
  counted?: string[];
}

/** A reconciliation that has counted more may count some of them twice. */
export const MOST_COUNTED = 1_000;

export type MatchedStatements = Pick<ReconcileCounts, 'found' | 'fresh'> &
  Required<Pick<ReconcileReport, 'statements' | 'refusedStatements'>>;

/** Activities of workflow `reconcile`. Histories store their names. */
export interface ReconcileActivities {
  /** Asks the service about flows, and keeps each difference as a finding. Heartbeats how far it has come. */
  reconcileFlows(call: SweepCall): Promise<SweptCounts>;
  /** Matches the statements that were put down for this worker. */
  matchStatements(call: MatchStatementsCall): Promise<MatchedStatements>;
}

/** A flow that may have moved money, as the engine shows it. Times are epoch ms. */
export interface FlowFacts {
  workflowId: string;
  type: string;
  /** `stopped`: terminated or timed out, without a result. */
  state: 'open' | 'ended' | 'stopped';
  /** Search attributes. `amount` is what the caller has asked for, in minor units. */
  status?: string;
  waitingFor?: string;
  paymentId?: string;
  businessUnit?: string;
  amount?: number;
  currency?: string;
  needsOperator?: boolean;
  startedAt: number;
  closedAt?: number;
  /** Of an ended flow; undefined if it has failed or was cancelled before it sent anything. */
  result?: unknown;
  /** Of an open `paymentActions`: the commands that it has answered or taken over, in the form of its result. */
  openResult?: unknown;
  /** Why what it has done can't be read, as without the key: no money may be judged by it. */
  unreadable?: string;
}

/** A flow that a comparison needs can't be read: what it has done would look like money of nobody. */
export class UnreadableFlow extends Error {}

/** Engine operations of a reconciliation. Implemented in `src/client`. All read what a list shows again from its flow. */
export interface ReconcilePort {
  /** Payment flows that were open at any time from `from` until `until`. */
  flowsBetween(from: number, until: number): AsyncIterable<FlowFacts>;
  /** Payment flows that lists show for this part of a sweep. */
  flowsOf(swept: Swept): AsyncIterable<FlowFacts>;
  /** The flows with these ids; an id that no flow has is left out. */
  flowsById(workflowIds: readonly string[]): Promise<FlowFacts[]>;
  /** The flows that show one of these payments as theirs. */
  flowsOfPayments(paymentIds: readonly string[]): Promise<FlowFacts[]>;
  /** Those of the texts that an open flow has got from the service, or has told. */
  knownToOpen(workflowId: string, texts: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Environment and app id under which the payment of the flow was made or read, such as `live/shop-1`; undefined: nobody
   * has noted it. @throws UnreadableFlow
   */
  madeUnder(workflowId: string): Promise<string | undefined>;
  /** Epoch ms: when the first run of a workflow id began that lists still show; undefined: they show none. */
  firstStartedAt(workflowId: string): Promise<number | undefined>;
  /** Epoch ms: flows that ended before may be forgotten. */
  keptSince(): Promise<number>;
  /** Keeps a finding. `known`: it was found before, and may have been acknowledged. */
  keepFinding(finding: Finding): Promise<'fresh' | 'known'>;
}
