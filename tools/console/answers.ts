/** What the console's server answers, as its page reads it. Texts are for people; times are ISO 8601 UTC. */

/** How a text is coloured. `person`: someone must act. */
export type Tone = 'good' | 'bad' | 'waiting' | 'person' | 'neutral';

/** What happened, what it waits for, and what to do. */
export interface Said {
  what: string;
  tone: Tone;
  /** How it is known. */
  known?: string;
  /** undefined if it waits for nothing. */
  waitsFor?: string;
  toDo: string;
}

/** A value, or why it can't be had now. */
export type Part<Value> = { value: Value } | { fault: string };

/** What stays the same while the server runs. */
export interface About {
  sandboxUrl: string;
  /** All flows in Temporal UI. */
  uiUrl: string;
  /** Key with which a browser makes tokens. Not a secret. */
  publicKey: string;
  /** Why no payment can be made here. */
  off?: string;
  cards: readonly { number: string; text: string }[];
  currencies: readonly { code: string; decimals: number }[];
  faults: readonly { kind: string; text: string; effect: string }[];
}

/** One transaction in the ledger of the sandbox. */
export interface Step {
  kind: string;
  amount: string;
  status: string;
  tone: Tone;
  at: string;
  transactionId: string;
  idempotencyKey: string | null;
  /** Where the money of the payment is once this and all before it are counted. */
  after: string;
}

export interface PaymentRow {
  workflowId: string;
  reference: string;
  /** Kind of flow, such as "Charge". */
  name: string;
  amount?: string;
  /** A word of the contract, by which a change is seen. */
  status: string | null;
  said: Said;
  /** What a flow of commands to the same payment says, while it is busy. */
  actions?: Said;
  since: string;
  /** When the present wait ends. */
  dueAt?: string;
  steps: Step[];
  /** Where the money is now. */
  money: string;
  /** The flow in Temporal UI. */
  uiUrl: string;
}

/** A command that makes sense now. Amounts are decimals such as "10.95". */
export type Offer =
  | { command: 'capture' | 'refund'; most: string; currency: string; hint: string }
  | { command: 'void' | 'cancel'; hint: string };

export interface PaymentDetails {
  row: PaymentRow;
  /** What the flows of the payment say of themselves. */
  explained: string[];
  offers: Offer[];
  deliveries: DeliveryRow[];
}

export interface DeliveryRow {
  id: string;
  eventType: string;
  reference: string | null;
  at: string;
  attempts: number;
  said: Said;
}

export interface FaultRow {
  id: string;
  text: string;
  /** Whom it meets, and how often still. */
  meets: string;
  isUsedUp: boolean;
  fired: number;
}

export interface ClockView {
  /** The sandbox's time. */
  now: string;
  aheadMs: number;
}

export interface Overview {
  payments: Part<PaymentRow[]>;
  deliveries: Part<DeliveryRow[]>;
  faults: Part<FaultRow[]>;
  clock: Part<ClockView>;
}

/** Answer to a checkout or a command. */
export interface Done {
  workflowId: string;
  status: string;
  said: Said;
  /** false: the outcome is not known yet. The same request, sent again, asks for it. */
  isKnown: boolean;
  /** No money has moved by this command, nor ever will: what is asked next is another command, under another id. */
  movedNothing?: true;
}

/** Answer to every refused or failed request. */
export interface Refusal {
  error: { what: string; faults: string[]; toDo: string; /** By this request. */ movedNothing?: true };
}
