import type { TransactionOperations } from '../src/contract/activities.js';
import type { CreateChargeCall, CreateCreditCall, CreateTransactionCall } from '../src/contract/activity-calls.js';
import type { ChargeRequest, TransactionOptions } from '../src/provider/index.js';
import { riskAnalysisRecord, transactionRecord } from './records.js';
import type { TransactionTable } from './transactions.js';

export const TRANSACTIONS: TransactionTable<TransactionOperations> = {
  Authorization: {
    plural: 'Authorizations',
    begins: true,
    stoppedAs: () => 'payments',
    tellsOfRestore: true,
    post: (provider, call, options) => {
      const { authorizationType } = call.authorization;
      const request = {
        ...cardRequest(call, call.authorization),
        ...(authorizationType !== undefined && { authorizationType }),
      };
      return provider.createAuthorization(call.paymentId, request, fromBuyer(options, call.authorization));
    },
    get: (provider, ...where) => provider.getAuthorization(...where),
    list: (provider, ...where) => provider.listAuthorizations(...where),
    record: transactionRecord,
  },
  Charge: {
    plural: 'Charges',
    begins: true,
    stoppedAs: () => 'payments',
    getIsNamed: true,
    post: (provider, call, options) =>
      provider.createCharge(call.paymentId, cardRequest(call, call.charge), fromBuyer(options, call.charge)),
    get: (provider, ...where) => provider.getCharge(...where),
    list: (provider, ...where) => provider.listCharges(...where),
    record: transactionRecord,
  },
  Capture: {
    plural: 'Captures',
    othersMakeIt: true,
    stoppedAs: ({ atDeadline }) => (atDeadline === true ? undefined : 'captures'),
    amountOf: ({ capture }) => capture.amount,
    post: (provider, call, options) =>
      provider.createCapture(call.paymentId, { ...call.capture, ...references(call) }, options),
    get: (provider, ...where) => provider.getCapture(...where),
    list: (provider, ...where) => provider.listCaptures(...where),
    record: transactionRecord,
  },
  Void: {
    plural: 'Voids',
    othersMakeIt: true,
    stoppedAs: ({ toReauthorize }) => (toReauthorize === true ? 'payments' : undefined),
    post: (provider, call, options) =>
      provider.createVoid(call.paymentId, { additionalDetails: call.additionalDetails }, options),
    get: (provider, ...where) => provider.getVoid(...where),
    list: (provider, ...where) => provider.listVoids(...where),
    record: transactionRecord,
  },
  Refund: {
    plural: 'Refunds',
    othersMakeIt: true,
    stoppedAs: () => 'refunds',
    amountOf: ({ refund }) => refund.amount,
    post: (provider, call, options) =>
      provider.createRefund(call.paymentId, { ...call.refund, ...references(call) }, options),
    get: (provider, ...where) => provider.getRefund(...where),
    list: (provider, ...where) => provider.listRefunds(...where),
    record: transactionRecord,
  },
  Credit: {
    plural: 'Credits',
    begins: true,
    stoppedAs: () => 'payments',
    post: (provider, call, options) => provider.createCredit(call.paymentId, cardRequest(call, call.credit), options),
    get: (provider, ...where) => provider.getCredit(...where),
    list: (provider, ...where) => provider.listCredits(...where),
    record: transactionRecord,
  },
  RiskAnalysis: {
    plural: 'RiskAnalyses',
    tellsOfRestore: true,
    post: (provider, call, options) => {
      const { clientIpAddress: _header, ...asked } = call.riskAnalysis;
      const request = { ...asked, additionalDetails: call.additionalDetails };
      return provider.createRiskAnalysis(call.paymentId, request, fromBuyer(options, call.riskAnalysis));
    },
    get: (provider, ...where) => provider.getRiskAnalysis(...where),
    list: (provider, ...where) => provider.listRiskAnalyses(...where),
    record: riskAnalysisRecord,
  },
};

function cardRequest(
  call: CreateTransactionCall,
  asked: CreateCreditCall['credit'] & Partial<CreateChargeCall['charge']>,
): ChargeRequest {
  const { paymentMethod, cardOnFile, threeDSecureAttributes, merchantSiteUrl } = asked;
  return {
    paymentMethod: {
      type: paymentMethod.type,
      token: paymentMethod.token,
      ...(paymentMethod.encryptedCvv !== undefined && { creditCardCvv: paymentMethod.encryptedCvv }),
    },
    ...references(call),
    ...(threeDSecureAttributes !== undefined && { threeDSecureAttributes }),
    ...(merchantSiteUrl !== undefined && { merchantSiteUrl }),
    ...(cardOnFile !== undefined && {
      cofTransactionIndicators: {
        cardEntryMode: cardOnFile.entryMode,
        ...(cardOnFile.consentTransactionId !== undefined && {
          cofConsentTransactionId: cardOnFile.consentTransactionId,
        }),
      },
    }),
  };
}

/** Fields by which reads find the transaction again. */
function references({ reconciliationId, additionalDetails }: CreateTransactionCall) {
  return { ...(reconciliationId !== undefined && { reconciliationId }), additionalDetails };
}

function fromBuyer(options: TransactionOptions, { clientIpAddress }: { clientIpAddress?: string | undefined }) {
  return { ...options, ...(clientIpAddress !== undefined && { clientIpAddress }) };
}
