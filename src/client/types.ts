/** All input and output types of `HoldfastClient`, for both package entries that export it. */
export type {
  Authorized,
  AuthorizeInput,
  AuthorizeOutcome,
  Captured,
  Commanded,
  EarlierHold,
  Expired,
  FinalAuthorizeOutcome,
  HoldEnded,
  HoldOutcome,
  Released,
  Voided,
} from '../contract/authorize.js';
export type {
  Consented,
  ConsentedNotStored,
  ConsentMoney,
  FinalStoreCardOutcome,
  ListCardsInput,
  ListedCards,
  NotConsented,
  NotStoredCode,
  RemoveCardInput,
  RemovedCard,
  StoreCardInput,
  StoreCardOutcome,
  Stored,
} from '../contract/cards.js';
export type { ChargeInput, ChargeOutcome, FinalChargeOutcome } from '../contract/charge.js';
export type {
  CaptureCommand,
  Approval,
  Approved,
  DecideReview,
  ReauthorizeCommand,
  RefundCommand,
  VoidCommand,
} from '../contract/messages.js';
export type { CreditInput, CreditOutcome, FinalCreditOutcome } from '../contract/charge.js';
export type { FailureType } from '../contract/names.js';
export type { Dispute } from '../contract/disputes.js';
export type { FlowStatus, RetryNow, SettleManually } from '../contract/messages.js';
export type {
  Declined,
  Evidence,
  FinalStepOutcome,
  NotExecuted,
  OutcomeBase,
  Pending,
  Retryable,
  RiskVerdict,
  Succeeded,
  Unknown,
  VoidedPending,
  VoidedTransaction,
  VoidOfPending,
} from '../contract/outcome.js';
export type { FinalOutcome, Outcome } from '../contract/messages.js';
export type { ActionRecord, PaymentAction } from '../contract/payment-actions.js';
export type { PaymentMethodRecord } from '../contract/records.js';
export type { ResolvePendingInput } from '../contract/charge.js';
export type { AnalyseRiskInput, FinalRiskOutcome, RiskAnswer, RiskOutcome, UnderReview } from '../contract/risk.js';
export type { InputOf, OutputOf, SharedSchema } from '../contract/shared-schema.js';
export type { KnownBy, PaymentStatus, RiskDecision, WaitingFor } from '../contract/statuses.js';
export type {
  BillNow,
  CancelSubscription,
  ChangeCard,
  ChangePlan,
  ChangeTerms,
  Pause,
  RefundPeriod,
  Resume,
  SetAmount,
  SkipPeriod,
} from '../contract/subscription-commands.js';
export type { AmountFrom } from '../contract/subscription-amounts.js';
export type {
  Bill,
  FutureBill,
  Preview,
  PreviewRequest,
  ServicePeriod,
  SubscriptionBills,
} from '../contract/subscription-bills.js';
export type {
  BilledPeriod,
  ConfirmedRisk,
  OpenBill,
  SubscriptionAnswer,
  SubscriptionBase,
  SubscriptionEnded,
  SubscriptionGoesOn,
  SubscriptionOutcome,
  SubscriptionView,
} from '../contract/subscription-commands.js';
export type { RefundState, SubscriptionResult } from '../contract/subscription-result.js';
export type { Brake, BrakeChange, BrakeRequest, Brakes, BrakesAfter, ReleaseRequest } from '../contract/brakes.js';
export type { BrakeCommands } from './brakes.js';
export type { SubscriptionInput } from '../contract/subscription.js';
export type { TransactionCard, TransactionDetails, TransactionDocument, TransactionKind } from '../contract/records.js';
export type { ConnectOptions } from './connect.js';
export type { HoldfastErrorType } from './errors.js';
export type { FlowRef } from './flow-calls.js';
export type { WaitOptions } from './wait-options.js';
export type { Environment } from './environment-mark.js';
export type { CommandAnswer, PaymentRef } from './send-command.js';
export type { SubscriptionCommands } from './subscription-commands.js';
