import { expectTypeOf, test } from 'vitest';
import type * as clientEntry from '../../src/client/index.js';
import type {
  AnalyseRiskInput,
  AuthorizeInput,
  AuthorizeOutcome,
  BillNow,
  BrakeCommands,
  BrakeRequest,
  Brakes,
  BrakesAfter,
  CancelSubscription,
  CaptureCommand,
  ChangeCard,
  ChangePlan,
  ChangeTerms,
  ChargeInput,
  ChargeOutcome,
  CommandAnswer,
  CreditInput,
  CreditOutcome,
  Approval,
  Approved,
  DecideReview,
  FlowRef,
  FlowStatus,
  HoldfastClient,
  ListCardsInput,
  ListedCards,
  Outcome,
  Pause,
  PaymentRef,
  Preview,
  PreviewRequest,
  ReauthorizeCommand,
  RefundCommand,
  RefundPeriod,
  ReleaseRequest,
  RemoveCardInput,
  RemovedCard,
  ResolvePendingInput,
  Resume,
  RetryNow,
  RiskOutcome,
  SetAmount,
  SettleManually,
  SkipPeriod,
  StoreCardInput,
  StoreCardOutcome,
  SubscriptionAnswer,
  SubscriptionBills,
  SubscriptionCommands,
  SubscriptionInput,
  SubscriptionOutcome,
  VoidCommand,
  WaitOptions,
} from '../../src/index.js';

/** Every method, in names that a caller can import from the package's entry. */
interface Named {
  charge(input: ChargeInput, options?: WaitOptions): Promise<ChargeOutcome>;
  authorize(input: AuthorizeInput, options?: WaitOptions): Promise<AuthorizeOutcome>;
  credit(input: CreditInput, options?: WaitOptions): Promise<CreditOutcome>;
  storeCard(input: StoreCardInput, options?: WaitOptions): Promise<StoreCardOutcome>;
  listCards(input: Omit<ListCardsInput, 'commandId'>): Promise<ListedCards>;
  removeCard(input: Omit<RemoveCardInput, 'commandId'> & { commandId?: string }): Promise<RemovedCard>;
  subscribe(input: SubscriptionInput, options?: WaitOptions): Promise<SubscriptionOutcome>;
  readonly subscription: SubscriptionCommands;
  readonly brakes: BrakeCommands;
  analyseRisk(input: AnalyseRiskInput, options?: WaitOptions): Promise<RiskOutcome>;
  capture(payment: PaymentRef, request?: CaptureCommand, options?: WaitOptions): Promise<CommandAnswer>;
  void(payment: PaymentRef, request?: VoidCommand, options?: WaitOptions): Promise<CommandAnswer>;
  reauthorize(reference: string, request?: ReauthorizeCommand, options?: WaitOptions): Promise<CommandAnswer>;
  refund(request: RefundCommand & { payment: PaymentRef }, options?: WaitOptions): Promise<CommandAnswer>;
  decideReview(flow: FlowRef, decision: DecideReview): Promise<Outcome>;
  approve(flow: FlowRef, decision: Approval): Promise<Approved>;
  reject(flow: FlowRef, decision: Approval): Promise<Approved>;
  resolvePending(input: ResolvePendingInput): Promise<{ workflowId: string }>;
  status(flow: FlowRef): Promise<FlowStatus>;
  explain(flow: FlowRef): Promise<string>;
  settleManually(flow: FlowRef, decision: SettleManually): Promise<Outcome | SubscriptionAnswer>;
  retryNow(flow: FlowRef, request?: RetryNow): Promise<string>;
  close(): Promise<void>;
}

interface NamedBrakes {
  brake(request: BrakeRequest): Promise<BrakesAfter>;
  release(request: ReleaseRequest): Promise<BrakesAfter>;
  list(): Promise<Brakes>;
}

interface NamedSubscription {
  pause(reference: string, request?: Pause): Promise<SubscriptionAnswer>;
  resume(reference: string, request?: Resume): Promise<SubscriptionAnswer>;
  changeCard(reference: string, request: ChangeCard): Promise<SubscriptionAnswer>;
  changePlan(reference: string, request: ChangePlan): Promise<SubscriptionAnswer>;
  changeTerms(reference: string, request: ChangeTerms): Promise<SubscriptionAnswer>;
  skipPeriod(reference: string, request: SkipPeriod): Promise<SubscriptionAnswer>;
  setAmount(reference: string, request: SetAmount): Promise<SubscriptionAnswer>;
  cancel(reference: string, request: CancelSubscription): Promise<SubscriptionAnswer>;
  billNow(reference: string, request: BillNow): Promise<SubscriptionAnswer>;
  refundPeriod(reference: string, request?: RefundPeriod): Promise<SubscriptionAnswer>;
  bills(reference: string): Promise<SubscriptionBills>;
  preview(reference: string, request: PreviewRequest): Promise<Preview>;
}

test('Every type that a method of the client takes or answers can be imported from the entry', () => {
  expectTypeOf<Pick<HoldfastClient, keyof HoldfastClient>>().toEqualTypeOf<Named>();
  expectTypeOf<SubscriptionCommands>().toEqualTypeOf<NamedSubscription>();
  expectTypeOf<BrakeCommands>().toEqualTypeOf<NamedBrakes>();
});

test('The entry of the client alone exports the same client', () => {
  expectTypeOf<clientEntry.HoldfastClient>().toEqualTypeOf<HoldfastClient>();
  expectTypeOf<clientEntry.AuthorizeInput>().toEqualTypeOf<AuthorizeInput>();
});
