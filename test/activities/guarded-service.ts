import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { type BulkheadOptions, withBulkheads } from '../../activities/bulkhead.js';
import { CALL_PRIORITIES, type CallPriority } from '../../src/contract/activities.js';
import {
  type OperationName,
  type ProviderClient,
  ProviderError,
  type ProviderErrorKind,
} from '../../src/provider/index.js';

/** The failures that tests provoke would be logged as warnings. */
const QUIET = new DefaultLogger('ERROR');
export const SECOND = 1_000;
export const POSTS = 8;
export const PLACES = { local: 4, posts: POSTS, reads: 2, waiting: 2 };

/** How a call is made. */
export interface How {
  attempt?: number;
  name?: OperationName;
  /** The activity has but this attempt. */
  once?: boolean;
  priority?: CallPriority;
  /** The call is part of this activity. */
  within?: OperationName;
}

/** A service whose calls a test ends, and what became of each. */
export class Service {
  readonly waiting: { end: () => void; fail: (error: ProviderError) => void }[] = [];
  sent = 0;
  readonly client: ProviderClient;
  now = 1_000_000;
  readonly reported: string[] = [];

  constructor(places: BulkheadOptions['places'] = PLACES) {
    const send = async () =>
      await new Promise((resolve, reject) => {
        this.sent += 1;
        this.waiting.push({ end: () => resolve({ data: {} }), fail: reject });
      });
    // Of all operations those that the tests call.
    const methods = new Proxy({}, { get: () => send }) as ProviderClient;
    const guarded = withBulkheads(new Map([['slow', methods]]), {
      places,
      longestReturn: 10_000,
      opensFrom: 10,
      now: () => this.now,
      observer: {
        circuit: (unit, state) => void this.reported.push(`${unit} ${state}`),
        heldBack: (unit, because) => void this.reported.push(`${unit} held back: ${because}`),
      },
    });
    this.client = guarded.get('slow')!;
  }

  /** What the activity gets. A call that is sent is under way until the test ends it. */
  async call(
    where: 'local' | 'regular',
    { attempt = 1, name = 'createCharge', once = false, priority = CALL_PRIORITIES.command, within = name }: How = {},
  ): Promise<ProviderError | 'under way'> {
    const before = this.sent;
    const only = { ...(once && { retryPolicy: { maximumAttempts: 1 } }) };
    const info = {
      isLocal: where === 'local',
      attempt,
      activityType: within,
      priority: { priorityKey: priority },
      ...only,
    };
    const environment = new MockActivityEnvironment(info, { logger: QUIET });
    const ended = environment
      .run(async () => await (this.client[name] as () => Promise<unknown>)())
      .then(
        () => 'under way' as const,
        (error: unknown) => error as ProviderError,
      );
    await new Promise(setImmediate);
    return this.sent > before ? 'under way' : await ended;
  }

  async calls(many: number, where: 'local' | 'regular', how: How = {}): Promise<(ProviderError | 'under way')[]> {
    const all: (ProviderError | 'under way')[] = [];
    for (let left = many; left > 0; left -= 1) all.push(await this.call(where, how));
    return all;
  }

  async endAll(afterMs: number, error?: () => ProviderError): Promise<void> {
    this.now += afterMs;
    for (const { end, fail } of this.waiting.splice(0)) {
      if (error === undefined) end();
      else fail(error());
    }
    await new Promise(setImmediate);
  }

  async rounds(many: number, afterMs: number, error?: () => ProviderError): Promise<void> {
    for (let left = many; left > 0; left -= 1) {
      await this.call('regular');
      await this.endAll(afterMs, error);
    }
  }
}

export const failed = (kind: ProviderErrorKind, httpStatus?: number, code?: string) => () =>
  new ProviderError('failed', { kind, operation: 'createCharge', mayHaveLeft: true, httpStatus, code });
