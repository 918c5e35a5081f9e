/**
 * Where a flow stands and what may happen there, as data: flows move along these lines and no other, and the
 * diagrams of `docs/flows.md` are drawn from them. A state without a way out is final.
 */
export interface Transition {
  readonly from: Phase;
  readonly on: Happening;
  readonly to: Phase;
}

export const PHASES = [
  'findingCustomer',
  'creatingPayment',
  'analysing',
  'charging',
  'crediting',
  'authorizing',
  'consenting',
  'storing',
  'held',
  'analysingHold',
  'capturing',
  'voiding',
  'releasing',
  'heldToRenew',
  'voidingPending',
  'voidingToRenew',
  'renewing',
  'onFile',
  'lettingGoOnFile',
  'notOnFile',
  'lettingGoNotOnFile',
  'idle',
  'refunding',
  'succeeded',
  'declined',
  'notExecuted',
  'captured',
  'voided',
  'expired',
  'stored',
  'consentedNotStored',
  'approve',
  'review',
  'decline',
] as const;
export type Phase = (typeof PHASES)[number];

export type Happening =
  | 'paymentCreated'
  | 'riskAsked'
  | 'approved'
  | 'rejected'
  | 'leftOpen'
  /** The money operation under way was read back as done, as failed, or is proven never to have been executed. */
  | 'done'
  | 'failed'
  | 'absent'
  /** The service would not take it, and that is believed: nothing was executed. */
  | 'refused'
  | 'capture'
  | 'captureInPart'
  | 'void'
  | 'refund'
  /** The hold is let go so that it can be made anew. */
  | 'reauthorize'
  | 'customerKnown'
  | 'cardStored'
  | 'cardRefused'
  /** The consent's charge stands. */
  | 'kept'
  | 'holdEnded'
  /** It was voided while it pended, and has failed. */
  | 'voided'
  /** The void of what a capture had left has cancelled the capture. */
  | 'captureCancelled'
  | 'voidedElsewhere'
  | 'capturedElsewhere';

type Line = readonly [Phase, Happening, Phase];

/** Where the payment itself can't be known, only an operator can say how it ended. */
const CREATE: readonly Line[] = [
  ['creatingPayment', 'absent', 'notExecuted'],
  ['creatingPayment', 'failed', 'declined'],
];

function single(phase: Phase): Line[] {
  return [
    ['creatingPayment', 'paymentCreated', phase],
    ['creatingPayment', 'done', 'succeeded'],
    [phase, 'done', 'succeeded'],
    [phase, 'failed', 'declined'],
    [phase, 'absent', 'notExecuted'],
  ];
}

/** What pends is voided on command; both are followed to their end. */
function followedAfterVoid(phase: Phase): Line[] {
  return [
    [phase, 'void', 'voidingPending'],
    ['voidingPending', 'done', phase],
    ['voidingPending', 'failed', phase],
    ['voidingPending', 'absent', phase],
    ['voidingPending', 'refused', phase],
  ];
}

function voidedWhilePending(phase: Phase): Line[] {
  return [...followedAfterVoid(phase), [phase, 'voided', 'voided']];
}

function riskBefore(next: Phase): Line[] {
  return [
    ['creatingPayment', 'riskAsked', 'analysing'],
    ['analysing', 'approved', next],
    ['analysing', 'rejected', 'declined'],
  ];
}

/** The consent's money is let go of or given back, whether the card is on file or not. */
function letGoOf(phase: Phase, voiding: Phase, end: Phase): Line[] {
  return [
    [phase, 'kept', end],
    [phase, 'holdEnded', end],
    [phase, 'voidedElsewhere', end],
    [phase, 'capturedElsewhere', end],
    [phase, 'void', voiding],
    [voiding, 'done', end],
    [voiding, 'failed', phase],
    [voiding, 'absent', phase],
    [voiding, 'refused', phase],
  ];
}

const LINES = {
  charge: [...CREATE, ...single('charging'), ...riskBefore('charging'), ...voidedWhilePending('charging')],
  credit: [...CREATE, ...single('crediting'), ...voidedWhilePending('crediting')],
  analyseRisk: [
    ['creatingPayment', 'absent', 'notExecuted'],
    ['creatingPayment', 'riskAsked', 'analysing'],
    ['analysing', 'approved', 'approve'],
    ['analysing', 'rejected', 'decline'],
    ['analysing', 'leftOpen', 'review'],
  ],
  authorizeAndCapture: [
    ...CREATE,
    ['creatingPayment', 'paymentCreated', 'authorizing'],
    ...riskBefore('authorizing'),
    ['authorizing', 'done', 'held'],
    ['authorizing', 'failed', 'declined'],
    ['authorizing', 'absent', 'notExecuted'],
    ['held', 'riskAsked', 'analysingHold'],
    ['analysingHold', 'approved', 'held'],
    ['analysingHold', 'rejected', 'held'],
    ['held', 'capture', 'capturing'],
    ['held', 'void', 'voiding'],
    ['held', 'holdEnded', 'expired'],
    ['held', 'voidedElsewhere', 'voided'],
    ['held', 'capturedElsewhere', 'captured'],
    ...voidedWhilePending('capturing'),
    ['capturing', 'done', 'captured'],
    ['capturing', 'captureInPart', 'releasing'],
    ['capturing', 'failed', 'held'],
    ['capturing', 'absent', 'held'],
    ['capturing', 'refused', 'held'],
    ['releasing', 'done', 'captured'],
    ['releasing', 'failed', 'captured'],
    ['releasing', 'absent', 'captured'],
    ['releasing', 'refused', 'captured'],
    ['releasing', 'captureCancelled', 'voided'],
    ['voiding', 'done', 'voided'],
    ['voiding', 'failed', 'held'],
    ['voiding', 'absent', 'held'],
    ['voiding', 'refused', 'held'],
    ['held', 'reauthorize', 'heldToRenew'],
    ['heldToRenew', 'void', 'voidingToRenew'],
    ['heldToRenew', 'holdEnded', 'renewing'],
    ['heldToRenew', 'voidedElsewhere', 'voided'],
    ['heldToRenew', 'capturedElsewhere', 'captured'],
    ['voidingToRenew', 'done', 'renewing'],
    ['voidingToRenew', 'failed', 'heldToRenew'],
    ['voidingToRenew', 'absent', 'heldToRenew'],
    ['voidingToRenew', 'refused', 'heldToRenew'],
    ['renewing', 'done', 'held'],
    ['renewing', 'failed', 'declined'],
    ['renewing', 'absent', 'notExecuted'],
    ['renewing', 'refused', 'voided'],
    ['renewing', 'holdEnded', 'expired'],
    ['renewing', 'capturedElsewhere', 'captured'],
  ],
  storeCard: [
    ['findingCustomer', 'customerKnown', 'creatingPayment'],
    ['findingCustomer', 'absent', 'notExecuted'],
    ...CREATE,
    ['creatingPayment', 'paymentCreated', 'consenting'],
    ['consenting', 'done', 'storing'],
    ['consenting', 'failed', 'declined'],
    ['consenting', 'absent', 'notExecuted'],
    ['storing', 'cardStored', 'onFile'],
    ['storing', 'cardRefused', 'notOnFile'],
    ...letGoOf('onFile', 'lettingGoOnFile', 'stored'),
    ...letGoOf('notOnFile', 'lettingGoNotOnFile', 'consentedNotStored'),
    ['notOnFile', 'refund', 'refunding'],
    ['refunding', 'done', 'consentedNotStored'],
    ['refunding', 'failed', 'notOnFile'],
    ['refunding', 'absent', 'notOnFile'],
    ['refunding', 'refused', 'notOnFile'],
  ],
  paymentActions: [
    ...(
      [
        ['refund', 'refunding'],
        ['void', 'voiding'],
        ['capture', 'capturing'],
      ] as const
    ).flatMap(([command, phase]): Line[] => [
      ['idle', command, phase],
      [phase, 'done', 'idle'],
      [phase, 'failed', 'idle'],
      [phase, 'absent', 'idle'],
      [phase, 'refused', 'idle'],
    ]),
    ...followedAfterVoid('capturing'),
  ],
} as const satisfies Record<string, readonly Line[]>;

export type StatefulFlow = keyof typeof LINES;

/** Every line of one type of flow. */
export function transitionsOf(type: StatefulFlow): Transition[] {
  return LINES[type].map(([from, on, to]) => ({ from, on, to }));
}

export const STATEFUL_FLOWS = Object.keys(LINES) as StatefulFlow[];

export function firstPhase(type: StatefulFlow): Phase {
  if (type === 'storeCard') return 'findingCustomer';
  return type === 'paymentActions' ? 'idle' : 'creatingPayment';
}

/** Where it leads, or undefined when it can't happen there. */
export function nextPhase(type: StatefulFlow, phase: Phase, on: Happening): Phase | undefined {
  return LINES[type].find(([from, happening]) => from === phase && happening === on)?.[2];
}

/** No line leads out of it. (`idle` is left again by the next command.) */
export function isFinalPhase(type: StatefulFlow, phase: Phase): boolean {
  return !LINES[type].some(([from]) => from === phase);
}
