export type { FailureType } from '../contract/names.js';
export type { RiskDecision, TransactionStatus } from '../contract/statuses.js';
export { OPERATIONS, ProviderClient } from './client.js';
export type { Connection, OperationName, ProviderClientConstructor } from './client.js';
export type { Address } from './fields.js';
export type { ProviderAnswer } from './http/answers.js';
export { PROVIDER_ERROR_KINDS, ProviderError } from './http/errors.js';
export type { FailureMap, ProviderErrorFields, ProviderErrorKind } from './http/errors.js';
export type { MethodOf, Operation } from './http/operation.js';
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
export type { Customer, CustomerRequest, StoredPaymentMethod } from './resources/customers.js';
export type { ProviderPaymentMethods, Redirection, SupportedPaymentMethod } from './resources/lookups.js';
export type {
  LineItem,
  Order,
  Payment,
  PaymentRequest,
  PossibleNextAction,
  RelatedKind,
  RelatedResources,
  ResourceLink,
} from './resources/payments.js';
export type { ProviderData, TransactionDocument } from './resources/provider-data.js';
export type { RiskAnalysis, RiskAnalysisRequest } from './resources/risk-analyses.js';
export type { PaymentMethod, PaymentMethodRequest, SourceType, Token, TokenRequest } from './resources/tokens.js';
export type {
  AuthorizationRequest,
  CaptureRequest,
  ChargeRequest,
  CreditRequest,
  RefundRequest,
  ThreeDSecureAttributes,
  Transaction,
  TransactionResult,
  VoidRequest,
} from './resources/transactions.js';
export { API_VERSIONS, isSince } from './versions.js';
export type { ApiVersion } from './versions.js';
