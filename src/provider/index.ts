export { ProviderClient } from './client.js';
export type { ProviderAnswer } from './answers.js';
export { PROVIDER_ERROR_KINDS } from './error-kinds.js';
export type { ProviderErrorKind } from './error-kinds.js';
export { ProviderError } from './errors.js';
export type { ProviderErrorFields } from './errors.js';
export type { FailureMap } from './failures.js';
export { OPERATIONS } from './operations/index.js';
export type { OperationName } from './operations/index.js';
export type { Operation } from './operations/operation.js';
export { createDispatcher } from './options.js';
export type {
  CallOptions,
  Expandable,
  GetPaymentOptions,
  PostOptions,
  ProviderClientOptions,
  ProviderUnit,
  TransactionOptions,
} from './options.js';
export type { CustomerRequest } from './requests/customers.js';
export type { PaymentMethodRequest, SourceType, ThreeDSecureAttributes } from './requests/fields.js';
export type { PaymentRequest } from './requests/payments.js';
export type { RiskAnalysisRequest } from './requests/risk-analyses.js';
export type { TokenRequest } from './requests/tokens.js';
export type {
  AuthorizationRequest,
  CaptureRequest,
  ChargeRequest,
  CreditRequest,
  RefundRequest,
  VoidRequest,
} from './requests/transactions.js';
export type { Address } from './responses/addresses.js';
export type { Customer } from './responses/customers.js';
export type { PaymentMethod, StoredPaymentMethod, Token } from './responses/payment-methods.js';
export type {
  LineItem,
  Order,
  Payment,
  PossibleNextAction,
  RelatedKind,
  RelatedResources,
  ResourceLink,
} from './responses/payments.js';
export type { Redirection } from './responses/redirections.js';
export type { RiskAnalysis, RiskDecision } from './responses/risk-analyses.js';
export type { ProviderPaymentMethods, SupportedPaymentMethod } from './responses/supported-payment-methods.js';
export type { Transaction, TransactionDocument } from './responses/transactions.js';
export { API_VERSIONS, isSince } from './versions.js';
export type { ApiVersion } from './versions.js';
