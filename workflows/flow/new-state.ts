import { DEFAULT_REDIRECT_MS } from '../../src/contract/payment-input.js';
import { newOutbox } from '../kit/outbox.js';
import type { FlowState, StepKind } from './state.js';

/** What only the workflow of a type knows about its flows. */
export interface FlowTraits extends Pick<FlowState, 'consents' | 'unplaced' | 'pendingLimitMs'> {
  callsAbout?: FlowState['callsAbout'];
  redirectLimitMs?: number;
  /** Set if commands are taken from the first task on. */
  refuses?: FlowState['refuses'];
  keepsVoid?: boolean;
  /** Default true. */
  localFirst?: boolean;
}

interface FlowIdentity extends FlowTraits {
  type: FlowState['type'];
  workflowId: string;
  reference: string;
  amount: number;
  currency: string;
  businessUnit: string;
  fingerprint: string;
  kind: StepKind;
  startedAt: number;
  startedByClient: boolean;
  startedWith: unknown;
  notify?: { url: string } | undefined;
}

export function newState({ notify, ...identity }: FlowIdentity): FlowState {
  return {
    ...identity,
    outbox: newOutbox(notify),
    handingOver: false,
    localFirst: identity.localFirst ?? true,
    callsAbout: identity.callsAbout ?? 'payment',
    stepAmount: identity.amount,
    stepStartedAt: identity.startedAt,
    status: 'started',
    waitingFor: 'provider',
    since: identity.startedAt,
    dueAt: undefined,
    needsOperator: undefined,
    settleable: false,
    paymentId: undefined,
    transactionId: undefined,
    otherTransactionIds: [],
    hintedTransactionId: undefined,
    notLooked: false,
    ambiguousIds: [],
    refusedLists: {},
    refusedGets: {},
    revealed: undefined,
    provider: undefined,
    details: undefined,
    redirectUrl: undefined,
    redirectUntil: undefined,
    redirectLimitMs: identity.redirectLimitMs ?? DEFAULT_REDIRECT_MS,
    moneyPostMayHaveLeft: false,
    startedInClear: false,
    taskLost: undefined,
    cancelRequested: false,
    isCancelled: () => false,
    inLocalTry: false,
    attempts: 0,
    requestIds: [],
    inbox: [],
    arrivals: { signal: [], update: [] },
    aside: [],
    ignored: {},
    commands: new Map(),
    queue: [],
    actions: [],
    keepsVoid: identity.keepsVoid ?? false,
    tellOfVoid: false,
    voidable: undefined,
    beingVoided: undefined,
    lasting: undefined,
    busy: false,
    refuses:
      identity.refuses ?? (({ status, type }, name) => ({ refusal: `a ${type} that is ${status} takes no ${name}` })),
    hold: undefined,
    held: undefined,
    risk: undefined,
    outcome: undefined,
    failure: undefined,
    runs: 1,
    updatesTaken: 0,
    waiting: 0,
    isLong: false,
    cameForward: false,
    leaving: false,
    waitsUntil: undefined,
    frames: [],
    toResume: [],
  };
}

const LONGEST_REASON = 1_000;

const MORE = 'there are more such events: look at the payment in the back office of the service';

/** Adds to earlier reasons: an operator who has looked into the first one only must not clear them all. */
export function addLasting(flow: FlowState, why: string): void {
  const { lasting } = flow;
  const all = lasting === undefined ? why : `${lasting}; and ${why}`;
  if (lasting?.includes(why) === true) return;
  if (all.length <= LONGEST_REASON) flow.lasting = all;
  else if (lasting?.includes(MORE) !== true) flow.lasting = `${lasting ?? ''}; and ${MORE}`;
}

/** A signed event was dropped: no reason will ever name it. */
export function addMoreLasting(flow: FlowState): void {
  addLasting(flow, MORE);
}
