import type { FaultInput, SandboxControl } from '../../sandbox/control.js';
import type { FaultRow } from './answers.js';

type Fault = Awaited<ReturnType<SandboxControl['faults']>>[number];

interface FaultKind {
  /** What goes wrong. */
  text: string;
  /** What the payment does then. */
  effect: string;
  fault: FaultInput;
}

/** The call that moves the money: a charge, an authorization, a capture. */
const MONEY = { method: 'POST', path: '/payments/*/*' };

/** Faults that the page plants with one click. */
export const FAULT_KINDS: Readonly<Record<string, FaultKind>> = {
  replyLost: {
    text: 'The reply is lost after the money moved',
    effect: 'Sent again under the same idempotency key, and answered with the first result: the money moves once.',
    fault: { action: 'drop_reply', ...MONEY, times: 1 },
  },
  refused: {
    text: 'The connection is closed before anything is done, 2 times',
    effect: 'Sent again until it arrives.',
    fault: { action: 'refuse', ...MONEY, times: 2 },
  },
  unavailable: {
    text: 'The service answers 503, 3 times',
    effect: 'Sent again, with longer and longer pauses.',
    fault: { action: 'status', status: 503, ...MONEY, times: 3 },
  },
  garbage: {
    text: 'The money moves, and the answer is garbage',
    effect: 'Counts as no answer: it reads before it sends anything again.',
    fault: { action: 'garbage', after: true, ...MONEY, times: 1 },
  },
  slow: {
    text: 'The service takes 6 seconds to answer',
    effect: 'It waits; the page says so.',
    fault: { action: 'delay', delay_ms: 6_000, ...MONEY, times: 1 },
  },
  declined: {
    text: 'The card has insufficient funds',
    effect: 'Declined: an answer, not a failure.',
    fault: {
      action: 'result',
      status: 'Failed',
      category: 'payment_method_declined',
      sub_category: 'insufficient_funds',
      ...MONEY,
      times: 1,
    },
  },
  eventsLost: {
    text: 'Webhooks are lost, the next 4',
    effect: 'What is pending is found by a read instead: it takes longer, and ends the same.',
    fault: { action: 'lose_event', times: 4 },
  },
  eventsTwice: {
    text: 'Webhooks come twice, the next 4',
    effect: 'The repeat changes nothing.',
    fault: { action: 'repeat_event', times: 4 },
  },
};

/** A planted fault for people, whoever planted it. */
export function faultRow(fault: Fault): FaultRow {
  const { id, fired, times, reconciliation_id: reference, probability } = fault;
  const whom = reference === undefined ? 'whatever comes next' : reference;
  const often = times === undefined ? 'until it is removed' : times === 0 ? 'used up' : `${times} more`;
  const chance = probability < 1 ? `, with a probability of ${probability}` : '';
  return { id, text: textOf(fault), meets: `${whom}: ${often}${chance}`, isUsedUp: times === 0, fired };
}

function textOf(fault: Fault): string {
  const known = Object.values(FAULT_KINDS).find(({ fault: kind }) => isOfKind(fault, kind));
  if (known !== undefined) return known.text;
  const { action, method, path, status, delay_ms: delay, category, sub_category: sub } = fault;
  const details = [method, path, status, delay === undefined ? undefined : `${delay} ms`, category, sub];
  return [action, ...details.filter((each) => each !== undefined)].join(' ');
}

/** All that the kind names is the same, but how often it still fires. */
function isOfKind(fault: Fault, kind: FaultInput): boolean {
  const { times: _times, ...named } = kind;
  return Object.entries(named).every(([field, value]) => fault[field as keyof Fault] === value);
}
