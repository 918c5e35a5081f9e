export { ProviderClient } from './client.js';
export type { ProviderAnswer } from './answers.js';
export { PROVIDER_ERROR_KINDS, ProviderError } from './errors.js';
export type { ProviderErrorFields, ProviderErrorKind } from './errors.js';
export { OPERATIONS } from './operations.js';
export type { Operation, OperationName } from './operations.js';
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
export type { PaymentMethodRequest, ThreeDSecureAttributes } from './request-fields.js';
export type { ChargeRequest, PaymentRequest } from './requests.js';
export type { Payment, PossibleNextAction, RelatedKind, ResourceLink, Transaction } from './responses.js';
export { API_VERSIONS } from './versions.js';
export type { ApiVersion } from './versions.js';
