import { stateFailures } from '../failures.js';
import { paymentRequestSchema } from '../requests/payments.js';
import type { PaymentRequest } from '../requests/payments.js';
import { paymentSchema } from '../responses/payments.js';
import type { Payment } from '../responses/payments.js';
import { redirectionListSchema, redirectionSchema } from '../responses/redirections.js';
import { supportedPaymentMethodsSchema } from '../responses/supported-payment-methods.js';
import { list, operation, read } from './operation.js';

export const PAYMENT_OPERATIONS = {
  createPayment: operation<'/payments', PaymentRequest, Payment>({
    method: 'POST',
    path: '/payments',
    request: paymentRequestSchema,
    response: paymentSchema,
  }),
  getPayment: read('/payments/{paymentId}', 'paymentId', paymentSchema, { takesExpand: true }),
  updatePayment: operation<'/payments/{paymentId}', PaymentRequest, Payment>({
    method: 'PUT',
    path: '/payments/{paymentId}',
    request: paymentRequestSchema,
    response: paymentSchema,
    answersAbout: { field: 'id', parameter: 'paymentId' },
    failures: stateFailures,
  }),
  getRedirection: read('/payments/{paymentId}/redirections/{redirectionId}', 'redirectionId', redirectionSchema),
  listRedirections: list('/payments/{paymentId}/redirections', redirectionListSchema),
  listSupportedPaymentMethods: list('/supported-payment-methods', supportedPaymentMethodsSchema),
} as const;
