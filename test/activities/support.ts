import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { Dispatcher } from 'undici';
import { type ActivityDeps, createActivities, type Restored, type UnitTerms } from '../../activities/index.js';
import type { CreateChargeCall, CreatePaymentCall } from '../../src/contract/activity-calls.js';
import type { DeclineTable } from '../../src/contract/declines.js';
import type { EnginePort } from '../../src/contract/engine-port.js';
import type { ReferenceBook } from '../../src/contract/reference-book.js';
import type { PaymentActivities } from '../../src/contract/activities.js';
import type { FailureDetails, FailureType } from '../../src/contract/names.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import { type ApiVersion, createDispatcher, ProviderClient } from '../../src/provider/index.js';
import type { FaultInput } from '../../sandbox/control.js';
import { GOOD_CARD, startTestSandbox, type TestSandbox } from '../sandbox/support/sandbox.js';
import { sealedCalls } from '../support/sealed-calls.js';

export const HOUR = 3_600_000;
export const RUN_ID = 'c8b1f0de-5d0b-4f0b-8f7c-0d9f3f2c1a00';
export const ORIGINAL_RUN_ID = '1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed';

/** The failures that tests provoke would be logged as warnings. */
export const QUIET = new DefaultLogger('ERROR');
const SANDBOX_UNIT = { appId: 'holdfast-sandbox', privateKey: 'sandbox-private-key' };

/** How one attempt of an activity comes about, as the server would tell it. */
export interface AttemptInfo {
  attempt?: number;
  /** Epoch ms: of the first schedule, which an operator's reset of the activity leaves, and of this attempt. */
  scheduledTimestampMs?: number;
  currentAttemptScheduledTimestampMs?: number;
  heartbeatDetails?: unknown;
  isLocal?: boolean;
  /** Another one than `originalRunId` of the call: the run was made by a reset. */
  runId?: string;
  workflowId?: string;
  workflowType?: string;
}

const termsOf = ({ holdMs = 7 * 24 * HOUR, madeUnder, onlyNamedReads, declines, riskUnit, terms }: Surroundings) => ({
  holdMs,
  ...terms,
  ...(riskUnit !== undefined && { riskUnit }),
  ...(madeUnder !== undefined && { madeUnder }),
  ...(onlyNamedReads !== undefined && { onlyNamedReads }),
  ...(declines !== undefined && { declines }),
});

/** What surrounds the activities under test. */
export interface Surroundings {
  baseUrl: string;
  engine?: Partial<EnginePort>;
  referenceBook?: ReferenceBook;
  now?: () => number;
  /** Credentials of the one business unit, `default`. Those of the sandbox's own unit if absent. */
  unit?: { appId: string; privateKey: string };
  /** 1.3.0 if absent. */
  apiVersion?: ApiVersion;
  /** How long the unit's provider holds money, ms. Nothing is said of the unit if absent. */
  holdMs?: number;
  /** Environment and app id of the unit, as `test/holdfast-sandbox`. */
  madeUnder?: string;
  restored?: Restored;
  brakeOf?: ActivityDeps['brakeOf'];
  /** Unit for risk analyses, with the same credentials. */
  riskUnit?: string;
  /** How long its provider holds money, ms. Nothing is said of it if absent. */
  riskHoldMs?: number;
  /** Its service offers no list of transactions. */
  onlyNamedReads?: true;
  declines?: DeclineTable;
  /** Further ones of its unit. */
  terms?: Partial<UnitTerms>;
}

/** The real activities over the real client of the payment service, in Temporal's activity context. */
export class Harness {
  /** Every request that was handed to the network: `POST /payments/.../charges`. */
  readonly requests: string[] = [];
  /** The idempotency key of each request, undefined where it had none. */
  readonly keys: (string | undefined)[] = [];
  /** What the last attempt reported by heartbeat. */
  readonly heartbeats: unknown[] = [];
  readonly #dispatcher = createDispatcher();
  readonly #activities: PaymentActivities;

  constructor(around: Surroundings) {
    const counting: Dispatcher = this.#dispatcher.compose((dispatch) => (options, handler) => {
      this.requests.push(`${options.method} ${options.path}`);
      this.keys.push((options.headers as Record<string, string>)['idempotency-key']);
      return dispatch(options, handler);
    });
    const client = new ProviderClient({
      baseUrl: around.baseUrl,
      environment: 'test',
      unit: { ...SANDBOX_UNIT, ...around.unit, apiVersion: around.apiVersion ?? '1.3.0' },
      dispatcher: counting,
    });
    const activities = createActivities({
      providers: new Map([
        ['default', client],
        ...(around.riskUnit === undefined ? [] : [[around.riskUnit, client] as const]),
      ]),
      brakeOf: around.brakeOf,
      engine: { ...STRICT_ENGINE, ...around.engine },
      referenceBook: around.referenceBook,
      now: around.now ?? Date.now,
      restored: around.restored,
      ...((around.riskUnit ??
        around.holdMs ??
        around.madeUnder ??
        around.onlyNamedReads ??
        around.declines ??
        around.terms) !== undefined && {
        units: new Map([
          ['default', termsOf(around)],
          ...(around.riskHoldMs === undefined ? [] : [[around.riskUnit ?? '', { holdMs: around.riskHoldMs }] as const]),
        ]),
      }),
    });
    this.#activities = sealedCalls(activities);
  }

  /** Names of the activities there are. */
  names(): string[] {
    return Object.keys(this.#activities);
  }

  posts(): string[] {
    return this.requests.filter((request) => request.startsWith('POST '));
  }

  async run<Name extends keyof PaymentActivities>(
    name: Name,
    call: Parameters<PaymentActivities[Name]>[0],
    info: AttemptInfo = {},
  ): Promise<Awaited<ReturnType<PaymentActivities[Name]>>> {
    const { runId = RUN_ID, workflowId = 'payment-order-1001', ...rest } = info;
    const environment = new MockActivityEnvironment(
      { ...rest, workflowExecution: { workflowId, runId } },
      { logger: QUIET },
    );
    environment.on('heartbeat', (details: unknown) => this.heartbeats.push(details));
    const activity = this.#activities[name] as (argument: unknown) => Promise<unknown>;
    const result: unknown = await environment.run(async () => await activity(call));
    return result as Awaited<ReturnType<PaymentActivities[Name]>>;
  }

  /** The failure an attempt ends with; an attempt that succeeds fails the test. */
  async fail<Name extends keyof PaymentActivities>(
    name: Name,
    call: Parameters<PaymentActivities[Name]>[0],
    info: AttemptInfo = {},
  ): Promise<Failed> {
    let result: unknown;
    try {
      result = await this.run(name, call, info);
    } catch (error) {
      return failedWith(error);
    }
    throw new Error(`${name} succeeded: ${JSON.stringify(result)}`);
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

/** Runs `work` as an activity that somebody has started without a workflow. */
export async function ofNoFlow(work: () => Promise<unknown>): Promise<unknown> {
  const environment = new MockActivityEnvironment({}, { logger: QUIET });
  return await environment.run(async () => {
    const { info } = environment.context;
    const { workflowExecution } = info;
    Object.assign(info, { workflowExecution: undefined });
    // The environment itself can't do without one.
    return await work().finally(() => Object.assign(info, { workflowExecution }));
  });
}

/** A look-up that no test expected would go unseen if it had a harmless answer. */
const STRICT_ENGINE: EnginePort = {
  deliver: () => Promise.reject(new Error('deliver was not expected')),
  flowOfPayment: () => Promise.reject(new Error('flowOfPayment was not expected')),
  endedFlow: () => Promise.reject(new Error('endedFlow was not expected')),
  earlierRun: () => Promise.reject(new Error('earlierRun was not expected')),
  startedAt: () => Promise.reject(new Error('startedAt was not expected')),
  madeByReset: () => Promise.reject(new Error('madeByReset was not expected')),
  claimOf: () => Promise.reject(new Error('claimOf was not expected')),
  earlierPayment: () => Promise.reject(new Error('earlierPayment was not expected')),
  sentBefore: () => Promise.reject(new Error('sentBefore was not expected')),
  siblingThatSent: () => Promise.reject(new Error('siblingThatSent was not expected')),
  toldEnd: () => Promise.reject(new Error('toldEnd was not expected')),
  latestResult: () => Promise.reject(new Error('latestResult was not expected')),
  parkedEvents: () => Promise.reject(new Error('parkedEvents was not expected')),
  isOpen: () => Promise.reject(new Error('isOpen was not expected')),
  handsOver: () => Promise.reject(new Error('handsOver was not expected')),
  inFirstTry: () => Promise.reject(new Error('inFirstTry was not expected')),
  taskWasLost: () => Promise.reject(new Error('taskWasLost was not expected')),
  readFlow: () => Promise.reject(new Error('readFlow was not expected')),
  refund: () => Promise.reject(new Error('refund was not expected')),
  tellSubscription: () => Promise.reject(new Error('tellSubscription was not expected')),
  countOutgoing: () => Promise.reject(new Error('countOutgoing was not expected')),
  handOver: () => Promise.reject(new Error('handOver was not expected')),
};

/** An activity's failure, as its workflow would see it. */
export interface Failed {
  type: FailureType;
  message: string;
  retryable: boolean;
  nextRetryDelay: unknown;
  details: FailureDetails;
}

export function failedWith(error: unknown): Failed {
  if (!(error instanceof ApplicationFailure)) throw error;
  return {
    type: error.type as FailureType,
    message: error.message,
    retryable: error.nonRetryable !== true,
    nextRetryDelay: error.nextRetryDelay,
    details: (error.details?.[0] ?? {}) as FailureDetails,
  };
}

/** One charge that is ready to be sent: its payment exists, its token is fresh. */
export interface ReadyCharge {
  reference: string;
  paymentId: string;
  call: CreateChargeCall;
}

export class Service {
  private constructor(readonly sandbox: TestSandbox) {}

  static async start(): Promise<Service> {
    return new Service(await startTestSandbox());
  }

  async readyCharge(change: Partial<CreateChargeCall> = {}, card: string = GOOD_CARD): Promise<ReadyCharge> {
    const reference = `order-${randomUUID().slice(0, 13)}`;
    const { token } = await this.sandbox.control.tokenize(card);
    const payment = await this.sandbox.api.createPayment({
      additional_details: { holdfast_workflow_id: `payment-${reference}` },
    });
    const key = idempotencyKey(`payment-${reference}`, 'createCharge', 1);
    return {
      reference,
      paymentId: payment.body.id,
      call: {
        ...keyed(key),
        paymentId: payment.body.id,
        currency: 'USD',
        reconciliationId: reference,
        charge: { paymentMethod: { type: 'tokenized', token } },
        additionalDetails: { holdfast_key: key },
        ...change,
      },
    };
  }

  /** Does something to the next POST of this charge. */
  async plant(charge: ReadyCharge, fault: FaultInput): Promise<void> {
    const target = { method: 'POST', path: '*/charges', reconciliation_id: charge.reference };
    await this.sandbox.control.addFault({ ...target, times: 1, ...fault });
  }

  ledger(charge: ReadyCharge) {
    return this.sandbox.control.ledger(charge.reference);
  }

  close(): Promise<void> {
    return this.sandbox.close();
  }
}

export function keyed(key: string) {
  return {
    businessUnit: 'default',
    key,
    postUntil: Date.now() + 20 * HOUR,
    mayHaveLeft: false,
    originalRunId: RUN_ID,
  };
}

export function paymentCall(change: Partial<CreatePaymentCall> = {}): CreatePaymentCall {
  const workflowId = `payment-order-${randomUUID().slice(0, 13)}`;
  return {
    ...keyed(idempotencyKey(workflowId, 'createPayment', 1)),
    payment: { amount: 1095, currency: 'USD' },
    additionalDetails: { holdfast_workflow_id: workflowId },
    ...change,
  };
}
