import type { ConsentMoney } from '../../src/contract/cards.js';
import type { Succeeded } from '../../src/contract/outcome.js';
import type { PaymentRecord } from '../../src/contract/transaction.js';
import { DEFAULT_HOLD_MS, holdTerms } from '../../src/domain/hold.js';
import { stage } from '../flow/stages.js';
import type { FlowState } from '../flow/state.js';
import { giveBack } from './give-back.js';
import { openHold, pursueHold } from './hold.js';

export interface ConsentGiven {
  by: 'authorization' | 'charge';
  consent: Succeeded;
  /** Undefined where only an operator knows of the charge. */
  payment: PaymentRecord | undefined;
  /** Epoch ms: when the consent may have been sent. */
  sentAt: number;
  /** A charge is to be refunded. */
  giveBack: boolean;
}

/** A hold that only stood for the consent is let go, pursued until that is proven; a charge stands or is refunded. */
export async function letGoOfConsent(flow: FlowState, given: ConsentGiven): Promise<ConsentMoney> {
  const { payment } = given;
  if (given.by === 'authorization') return await letGo(flow, given);
  if (given.giveBack && payment !== undefined) return await giveBack(flow);
  return given.giveBack ? { status: 'notRefunded', why: 'the payment of the charge is not known' } : { status: 'kept' };
}

async function letGo(flow: FlowState, { consent, payment, sentAt }: ConsentGiven): Promise<ConsentMoney> {
  const begin = (): object => {
    const terms = holdTerms(sentAt, Date.now(), payment?.holdMs ?? DEFAULT_HOLD_MS, {});
    openHold(flow, { onDeadline: 'void', captureMode: 'manual' }, consent, terms).mustVoid = 'consent given';
    return {};
  };
  const { status, transactionId, evidence } = await stage(flow, 'letGo', begin, async () => {
    if (flow.hold === undefined) throw new Error('there is no hold to let go');
    return await pursueHold(flow, flow.hold);
  });
  return {
    status: status === 'captured' ? 'capturedElsewhere' : status,
    ...(transactionId !== undefined && { transactionId }),
    evidence,
  };
}
