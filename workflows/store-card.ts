import type {
  ConsentedNotStored,
  ConsentMoney,
  FinalStoreCardOutcome,
  NotStoredCode,
  ParsedStoreCardInput,
  Stored,
} from '../src/contract/cards.js';
import { FLOWS } from '../src/contract/flows.js';
import type { FinalStepOutcome, Succeeded } from '../src/contract/outcome.js';
import type { PaymentMethodRecord, PaymentRecord } from '../src/contract/records.js';
import { notExecuted } from './flow/outcomes.js';
import { runFlow } from './flow/open-flow.js';
import { decidesAfterReset, inResetRun } from './kit/start-guard.js';
import { kept, resumable } from './flow/continue.js';
import type { FlowState } from './flow/state.js';
import { takeBackReason } from './flow/explain.js';
import { authorizeStep, buyerTraits, chargeStep } from './steps/transaction-steps.js';
import { beginStep, executeFirst } from './steps/money-step.js';
import { isSame, lookForObstacle, type StoreResult, storeStep, unlessReportedStored } from './steps/store-step.js';
import { consentIdAtLast, readConsentId, releaseConsent } from './steps/consent.js';
import { customerOf } from './steps/customer-step.js';
import { callForDoubt } from './steps/early-void.js';
import { refusesOfHold } from './steps/hold-refusals.js';
import { createPayment, neverCreated, attachPayment } from './steps/payment-step.js';
import { stopIfCancelled } from './flow/earlier-runs.js';

/**
 * Puts a card on file: finds or creates the customer, runs a consent transaction, and stores the card only if that
 * succeeded. Ends `stored`, `consentedNotStored`, `declined` or `notExecuted`.
 *
 * Fails with `InvalidInput`, `ReferenceConflict`, `NotFound` or `StateConflict` when it is certain that no money moved.
 */
export function storeCard(raw: unknown, carried?: unknown): Promise<FinalStoreCardOutcome> {
  return runFlow([raw, carried], { flow: FLOWS.storeCard, traitsOf, begin: (): Notes => ({}) }, story);
}

/** What is known before the consent is sent. */
interface Beginning {
  /** undefined only after a reset, when the customer can neither be found nor created any more. */
  customerId?: string;
  /** The cards that were on file before. */
  cards: PaymentMethodRecord[];
  payment?: PaymentRecord;
  /** Read-only reason: why nothing may be sent any more. */
  readOnlyReason?: string;
  /** Of what would have refused the card if no reset had made this run. */
  code?: NotStoredCode;
  /** An operator's decision about a charge whose payment is unknown. */
  decided?: Succeeded;
}

/** What the flow has done so far, for the run that continues it. */
interface Notes {
  begun?: Begun;
  consent?: FinalStepOutcome;
  /** Epoch ms. */
  sentAt?: number;
  early?: { id: string | null } | 'unread';
  result?: StoreResult;
  money?: ConsentMoney;
}

async function story(flow: FlowState, input: ParsedStoreCardInput, notes: Notes): Promise<FinalStoreCardOutcome> {
  const begun = await kept(notes, 'begun', async () => {
    await stopIfCancelled(flow);
    return await begin(flow, input);
  });
  if ('ended' in begun) return begun.ended;
  const consent = await kept(notes, 'consent', async () => {
    const ended = begun.decided ?? (await askForConsent(flow, input, begun));
    if (ended.status === 'succeeded') flow.callsAbout = 'card';
    return ended;
  });
  const { by } = input.consent;
  if (consent.status !== 'succeeded') {
    if (by === 'authorization') callForDoubt(flow, consent);
    return consent.status === 'notExecuted' && begun.code !== undefined ? { ...consent, code: begun.code } : consent;
  }
  const { payment } = begun;
  const sentAt = (notes.sentAt ??= flow.stepStartedAt);
  const firstRead = await kept(notes, 'early', async () => {
    const id = await readConsentId(flow, by, consent);
    return id === undefined ? 'unread' : { id };
  });
  const early = firstRead === 'unread' ? undefined : firstRead.id;
  const result = await kept(notes, 'result', () => store(flow, input, consent, begun));
  // If not even the customer is known, the card may be on file: its consent is not undone.
  const reverse = 'code' in result && begun.customerId !== undefined && input.onNotStored === 'undo';
  const money = await kept(notes, 'money', () => releaseConsent(flow, { by, consent, payment, sentAt, reverse }));
  const consentId = early ?? (await consentIdAtLast(flow, by, consent, early));
  const { status: _status, ...ofConsent } = consent;
  const common = {
    ...ofConsent,
    customerId: begun.customerId ?? ('card' in result ? result.customerId : undefined) ?? '',
    token: input.paymentMethod.token,
    ...(typeof consentId === 'string'
      ? { consentTransactionId: consentId }
      : { consentIdMissing: whyNoConsentId(flow, consentId) }),
    money,
  };
  return 'code' in result
    ? { ...common, status: 'consentedNotStored', code: result.code, reason: result.reason }
    : { ...common, status: 'stored', ...described(result.card, begun.cards) };
}

/** Finds or creates the customer, then creates the payment, unless the card could not be stored afterwards. */
async function begin(flow: FlowState, input: ParsedStoreCardInput): Promise<Begun> {
  return await resumable(
    flow,
    'begin',
    (): BeginNotes => ({}),
    (notes) => beginWith(flow, input, notes),
  );
}

type Begun = Beginning | { ended: Exclude<FinalStoreCardOutcome, Stored | ConsentedNotStored> };

interface BeginNotes {
  customer?:
    | { lastFailure: string }
    | (Pick<Required<Beginning>, 'customerId' | 'cards'> & Pick<Beginning, 'readOnlyReason' | 'code'>);
}

async function beginWith(flow: FlowState, input: ParsedStoreCardInput, notes: BeginNotes): Promise<Begun> {
  if (notes.customer === undefined) {
    const known = await findCustomerAndCards(flow, input);
    if ('ended' in known) return known;
    flow.callsAbout = 'payment';
    notes.customer = known;
  }
  const { customer } = notes;
  if ('lastFailure' in customer) {
    const without = await neverCreated(flow, `its customer could not be made: ${customer.lastFailure}`);
    return beginning(without, { cards: [] });
  }
  const { customerId } = customer;
  const created = await createPayment(
    flow,
    { ...input, customerId },
    {
      storedCard: true,
      ...(input.notify !== undefined && { notifyUrl: input.notify.url }),
    },
  );
  return beginning(created, customer);
}

async function findCustomerAndCards(
  flow: FlowState,
  input: ParsedStoreCardInput,
): Promise<NonNullable<BeginNotes['customer']> | Extract<Begun, { ended: unknown }>> {
  const customer = await customerOf(flow, input);
  if ('lastFailure' in customer) return customer;
  const { customerId, readOnlyReason } = customer;
  const { cards = [], obstacle } = await lookForObstacle(flow, customerId, input.paymentMethod.token);
  if (obstacle === undefined) return { customerId, cards, ...(readOnlyReason !== undefined && { readOnlyReason }) };
  const { code, reason } = obstacle;
  // After a reset the earlier run may already have sent the consent, whatever the state of the token is now.
  if (decidesAfterReset()) return { customerId, cards, readOnlyReason: reason, code };
  const proof = 'no money operation was ever sent';
  return { ended: { ...notExecuted(flow, { knownBy: 'poll', reason, proof }), code } };
}

function beginning(
  created: Awaited<ReturnType<typeof createPayment>>,
  known: Beginning,
): Beginning | { ended: Exclude<FinalStepOutcome, Succeeded> } {
  if (!('ended' in created)) return { ...known, ...created };
  const { ended } = created;
  return ended.status === 'succeeded' ? { ...known, decided: ended } : { ended };
}

async function askForConsent(
  flow: FlowState,
  input: ParsedStoreCardInput,
  { payment, readOnlyReason }: Beginning,
): Promise<FinalStepOutcome> {
  if (payment === undefined) throw new Error('there is no payment to consent by');
  const begun = (): object => {
    attachPayment(flow, payment);
    return {};
  };
  return await resumable(flow, 'consent', begun, async () => {
    const step = consentStep(flow, input, payment);
    return await executeFirst(flow, step, readOnlyReason);
  });
}

function consentStep(flow: FlowState, input: ParsedStoreCardInput, payment: PaymentRecord) {
  const entryMode =
    input.consent.for === 'recurring' ? ('recurring_consent_transaction' as const) : ('consent_transaction' as const);
  const asked = { ...input, customerId: undefined, risk: undefined, cardOnFile: { entryMode } };
  return input.consent.by === 'charge' ? chargeStep(flow, asked, payment) : authorizeStep(flow, asked, payment);
}

async function store(
  flow: FlowState,
  { consent: { by }, paymentMethod, customer: { customerReference } }: ParsedStoreCardInput,
  { transactionId }: Succeeded,
  { customerId }: Beginning,
): Promise<StoreResult> {
  const begun = (): object => {
    beginStep(flow, by);
    // Later events about the consent must not affect the store step.
    if (transactionId !== undefined) flow.otherTransactionIds = [transactionId];
    if (flow.status !== 'started' || flow.needsOperator !== undefined)
      takeBackReason(flow, { status: 'started', waitingFor: 'provider', dueAt: null });
    return {};
  };
  const result = await resumable(flow, 'store', begun, async (): Promise<StoreResult> => {
    const ended: StoreResult =
      customerId === undefined
        ? { code: 'refused', reason: 'the customer could neither be found nor made' }
        : await storeStep(flow, { customerId, customerReference }, paymentMethod.token);
    return 'code' in ended ? await unlessReportedStored(ended) : ended;
  });
  flow.callsAbout = 'payment';
  return result;
}

function whyNoConsentId({ businessUnit, provider = 'the provider' }: FlowState, read: null | undefined): string {
  return read === undefined
    ? 'the consent could not be read: its id is in no answer that came'
    : `the consent's transaction holds none where business unit "${businessUnit}" looks for that of ${provider}; ` +
        'if it has one under another name, set consentIdFields of the unit';
}

function described(card: PaymentMethodRecord, before: readonly PaymentMethodRecord[]) {
  const { last4Digits, vendor, fingerprint: number } = card;
  const others = before.filter(({ token, fingerprint: theirs }) => !isSame(token, card.token) && theirs === number);
  return {
    ...(last4Digits !== undefined && { last4Digits }),
    ...(vendor !== undefined && { vendor }),
    // After a reset this very flow may have stored it.
    ...(!inResetRun() && before.some(({ token }) => isSame(token, card.token)) && { alreadyStored: true as const }),
    ...(number !== undefined && others.length > 0 && { sameCard: others.map(({ token }) => token) }),
  };
}

function traitsOf(input: ParsedStoreCardInput) {
  return {
    callsAbout: 'customer' as const,
    localFirst: false,
    ...buyerTraits(input),
    refuses: refusesOfHold,
    consents: true,
  };
}
