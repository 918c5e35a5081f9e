import { ApplicationFailure } from '@temporalio/common';
import type { CreateChargeCall } from '../src/contract/activities.js';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import type { TransactionRecord } from '../src/contract/transaction.js';
import { findOurs } from '../src/domain/ownership.js';
import type { ChargeRequest } from '../src/provider/index.js';
import type { ActivityDeps } from './deps.js';
import { keyedPost } from './keyed-post.js';
import { listCharges } from './list-charges.js';
import { transactionRecord } from './records.js';

/** `POST /payments/{payment_id}/charges`: this moves the money. A `Failed` charge is an answer. */
export async function createCharge(deps: ActivityDeps, call: CreateChargeCall): Promise<TransactionRecord> {
  const { clientIpAddress } = call.charge;
  return await keyedPost(
    deps,
    call,
    async (provider, options) => {
      const answer = await provider.createCharge(call.paymentId, chargeRequest(call), {
        ...options,
        currency: call.currency,
        ...(clientIpAddress !== undefined && { clientIpAddress }),
      });
      return transactionRecord(answer.data, answer.requestId);
    },
    async () => {
      const search = findOurs(await listCharges(deps, call), {
        key: call.key,
        reconciliationId: call.reconciliationId,
      });
      if (search.found === undefined && search.ambiguous !== undefined) {
        const details: FailureDetails = { mayHaveLeft: true };
        throw ApplicationFailure.nonRetryable(
          `Not sent: several charges could be ours: ${search.ambiguous.join(', ')}`,
          FAILURE_TYPES.outcomeUnknown,
          details,
        );
      }
      return search.found;
    },
  );
}

function chargeRequest({ charge, reconciliationId, additionalDetails }: CreateChargeCall): ChargeRequest {
  const { paymentMethod, cardOnFile } = charge;
  return {
    paymentMethod: {
      type: paymentMethod.type,
      token: paymentMethod.token,
      ...(paymentMethod.encryptedCvv !== undefined && { creditCardCvv: paymentMethod.encryptedCvv }),
    },
    reconciliationId,
    additionalDetails,
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
