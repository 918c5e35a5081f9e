import type { KeyedCall } from '../../src/contract/activity-calls.js';
import type { KeyedOperation } from '../../src/contract/idempotency-key.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import type { PostActivities } from '../policies.js';
import type { JudgedFailure } from './judge-failure.js';
import type { ReadRefusal } from './refused-read.js';

/** What a read says: the operation's result, nothing of ours, or nothing at all. */
export type Found<Answer> = { found: Answer | undefined } | { unreadable: string; refusal?: ReadRefusal };

/** One operation under one key: how to send it, and how to find out whether an earlier attempt acted. */
export interface Step<Answer> {
  operation: KeyedOperation;
  /** From 1; where a payment's flow has ended, made of the command's id (money rule 3). */
  sequence: number | string;
  movesMoney: boolean;
  /** Epoch ms; no POST leaves later (money rule 4). */
  postUntil: number;
  /** Money rule 7: only for the first tries in the start path. */
  tryLocally: boolean;
  /** A task that was lost may have sent it locally. */
  lostTaskMayHaveSent?: boolean;
  /** Nothing more of it is to be sent: somebody wants it no more, and only reads tell what has become of it. */
  unwanted?: () => boolean;
  /** One try, and its failure is no news: for asking again about an answer that is already there. */
  once?: boolean;
  post(activities: PostActivities, call: KeyedCall): Promise<Answer>;
  /** Absent where the service offers no list. */
  find?: () => Promise<Found<Answer>>;
}

export type Answered<Answer> = { answer: Answer; knownBy: KnownBy };
export type Sent<Answer> = Answered<Answer> | { woken: true } | { failure: JudgedFailure };
