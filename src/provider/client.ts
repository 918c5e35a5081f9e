import type { ProviderAnswer } from './answers.js';
import { Caller } from './caller.js';
import type {
  CallOptions,
  GetPaymentOptions,
  PostOptions,
  ProviderClientOptions,
  TransactionOptions,
} from './options.js';
import type { CustomerRequest } from './requests/customers.js';
import type { PaymentRequest } from './requests/payments.js';
import type { RiskAnalysisRequest } from './requests/risk-analyses.js';
import type { TokenRequest } from './requests/tokens.js';
import type {
  AuthorizationRequest,
  CaptureRequest,
  ChargeRequest,
  CreditRequest,
  RefundRequest,
  VoidRequest,
} from './requests/transactions.js';
import type { Customer } from './responses/customers.js';
import type { StoredPaymentMethod, Token } from './responses/payment-methods.js';
import type { Payment } from './responses/payments.js';
import type { Redirection } from './responses/redirections.js';
import type { RiskAnalysis } from './responses/risk-analyses.js';
import type { ProviderPaymentMethods } from './responses/supported-payment-methods.js';
import type { Transaction } from './responses/transactions.js';

type Answer<T> = Promise<ProviderAnswer<T>>;

/**
 * The payment service, typed. Sends each call at most once: who calls decides about repeating, with the
 * same idempotency key. Every method throws {@link ProviderError} and nothing else. Amounts are minor
 * units at every API version.
 */
export class ProviderClient {
  // Private, so that no log of a client shows a key.
  readonly #caller: Caller;

  /** @throws ProviderError of kind `request` that lists every fault of the options */
  constructor(options: ProviderClientOptions) {
    this.#caller = new Caller(options);
  }

  /** Waits for the calls under way, then closes the connections. A dispatcher that was handed in stays open. */
  close(): Promise<void> {
    return this.#caller.close();
  }

  createPayment(request: PaymentRequest, options?: PostOptions): Answer<Payment> {
    return this.#caller.call('createPayment', {}, options, request);
  }

  getPayment(paymentId: string, options?: GetPaymentOptions): Answer<Payment> {
    return this.#caller.call('getPayment', { paymentId }, options);
  }

  /** Replaces the whole payment: what is not sent again is gone. */
  updatePayment(paymentId: string, request: PaymentRequest, options?: CallOptions): Answer<Payment> {
    return this.#caller.call('updatePayment', { paymentId }, options, request);
  }

  /** Locks funds. A `Failed` transaction is an answer, not an error, here and below. */
  createAuthorization(
    paymentId: string,
    request: AuthorizationRequest,
    options?: TransactionOptions,
  ): Answer<Transaction> {
    return this.#caller.call('createAuthorization', { paymentId }, options, request);
  }

  getAuthorization(paymentId: string, authorizationId: string, options?: CallOptions): Answer<Transaction> {
    return this.#caller.call('getAuthorization', { paymentId, authorizationId }, options);
  }

  listAuthorizations(paymentId: string, options?: CallOptions): Answer<Transaction[]> {
    return this.#caller.call('listAuthorizations', { paymentId }, options);
  }

  /** Authorizes and captures in one step. */
  createCharge(paymentId: string, request: ChargeRequest, options?: TransactionOptions): Answer<Transaction> {
    return this.#caller.call('createCharge', { paymentId }, options, request);
  }

  getCharge(paymentId: string, chargeId: string, options?: CallOptions): Answer<Transaction> {
    return this.#caller.call('getCharge', { paymentId, chargeId }, options);
  }

  listCharges(paymentId: string, options?: CallOptions): Answer<Transaction[]> {
    return this.#caller.call('listCharges', { paymentId }, options);
  }

  /** Transfers what an authorization locked: all of it, or `amount`. */
  createCapture(paymentId: string, request: CaptureRequest = {}, options?: PostOptions): Answer<Transaction> {
    return this.#caller.call('createCapture', { paymentId }, options, request);
  }

  getCapture(paymentId: string, captureId: string, options?: CallOptions): Answer<Transaction> {
    return this.#caller.call('getCapture', { paymentId, captureId }, options);
  }

  listCaptures(paymentId: string, options?: CallOptions): Answer<Transaction[]> {
    return this.#caller.call('listCaptures', { paymentId }, options);
  }

  /** Gives back what was captured and settled: all of it, or `amount`. */
  createRefund(paymentId: string, request: RefundRequest = {}, options?: PostOptions): Answer<Transaction> {
    return this.#caller.call('createRefund', { paymentId }, options, request);
  }

  getRefund(paymentId: string, refundId: string, options?: CallOptions): Answer<Transaction> {
    return this.#caller.call('getRefund', { paymentId, refundId }, options);
  }

  listRefunds(paymentId: string, options?: CallOptions): Answer<Transaction[]> {
    return this.#caller.call('listRefunds', { paymentId }, options);
  }

  /** Cancels what is not final yet, most often an authorization. */
  createVoid(paymentId: string, request: VoidRequest = {}, options?: PostOptions): Answer<Transaction> {
    return this.#caller.call('createVoid', { paymentId }, options, request);
  }

  getVoid(paymentId: string, voidId: string, options?: CallOptions): Answer<Transaction> {
    return this.#caller.call('getVoid', { paymentId, voidId }, options);
  }

  listVoids(paymentId: string, options?: CallOptions): Answer<Transaction[]> {
    return this.#caller.call('listVoids', { paymentId }, options);
  }

  /** Sends funds to a card, without relation to an earlier transaction. */
  createCredit(paymentId: string, request: CreditRequest, options?: PostOptions): Answer<Transaction> {
    return this.#caller.call('createCredit', { paymentId }, options, request);
  }

  getCredit(paymentId: string, creditId: string, options?: CallOptions): Answer<Transaction> {
    return this.#caller.call('getCredit', { paymentId, creditId }, options);
  }

  listCredits(paymentId: string, options?: CallOptions): Answer<Transaction[]> {
    return this.#caller.call('listCredits', { paymentId }, options);
  }

  /** Asks for a score and a decision about an initiated or authorized payment. API version 1.3.0 only. */
  createRiskAnalysis(
    paymentId: string,
    request: RiskAnalysisRequest = {},
    options?: TransactionOptions,
  ): Answer<RiskAnalysis> {
    return this.#caller.call('createRiskAnalysis', { paymentId }, options, request);
  }

  getRiskAnalysis(paymentId: string, riskAnalysisId: string, options?: CallOptions): Answer<RiskAnalysis> {
    return this.#caller.call('getRiskAnalysis', { paymentId, riskAnalysisId }, options);
  }

  listRiskAnalyses(paymentId: string, options?: CallOptions): Answer<RiskAnalysis[]> {
    return this.#caller.call('listRiskAnalyses', { paymentId }, options);
  }

  getRedirection(paymentId: string, redirectionId: string, options?: CallOptions): Answer<Redirection> {
    return this.#caller.call('getRedirection', { paymentId, redirectionId }, options);
  }

  listRedirections(paymentId: string, options?: CallOptions): Answer<Redirection[]> {
    return this.#caller.call('listRedirections', { paymentId }, options);
  }

  createCustomer(request: CustomerRequest, options?: PostOptions): Answer<Customer> {
    return this.#caller.call('createCustomer', {}, options, request);
  }

  getCustomer(customerId: string, options?: CallOptions): Answer<Customer> {
    return this.#caller.call('getCustomer', { customerId }, options);
  }

  /** Undefined for the reference of a deleted customer; one that was never used is a 404, and so an error. */
  findCustomer(customerReference: string, options?: CallOptions): Answer<Customer | undefined> {
    return this.#caller.call('findCustomer', { customerReference }, options);
  }

  /** Replaces the whole customer, except for its reference, which stays as it is. */
  updateCustomer(customerId: string, request: CustomerRequest, options?: CallOptions): Answer<Customer> {
    return this.#caller.call('updateCustomer', { customerId }, options, request);
  }

  deleteCustomer(customerId: string, options?: CallOptions): Answer<undefined> {
    return this.#caller.call('deleteCustomer', { customerId }, options);
  }

  /** Keeps a token with a customer, so that it can be used again. Doing it twice is doing it once. Since API version 1.2.0. */
  storePaymentMethod(customerId: string, token: string, options?: PostOptions): Answer<StoredPaymentMethod> {
    return this.#caller.call('storePaymentMethod', { customerId, token }, options);
  }

  getPaymentMethod(customerId: string, token: string, options?: CallOptions): Answer<StoredPaymentMethod> {
    return this.#caller.call('getPaymentMethod', { customerId, token }, options);
  }

  listPaymentMethods(customerId: string, options?: CallOptions): Answer<StoredPaymentMethod[]> {
    return this.#caller.call('listPaymentMethods', { customerId }, options);
  }

  deletePaymentMethod(customerId: string, token: string, options?: CallOptions): Answer<undefined> {
    return this.#caller.call('deletePaymentMethod', { customerId, token }, options);
  }

  /** Card data in the clear, sent with the public key: for the buyer's browser, or a merchant under PCI DSS SAQ D. */
  createToken(request: TokenRequest, options?: PostOptions): Answer<Token> {
    return this.#caller.call('createToken', {}, options, request);
  }

  getToken(token: string, options?: CallOptions): Answer<Token> {
    return this.#caller.call('getToken', { token }, options);
  }

  /** What each provider configuration of the business unit offers. */
  listSupportedPaymentMethods(options?: CallOptions): Answer<ProviderPaymentMethods[]> {
    return this.#caller.call('listSupportedPaymentMethods', {}, options);
  }
}
