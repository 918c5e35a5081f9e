import { HoldfastError } from '../../../src/client/index.js';
import type { AuthorizeInput, AuthorizeOutcome } from '../../../src/contract/authorize.js';
import type { StoreCardInput, StoreCardOutcome } from '../../../src/contract/cards.js';
import type { ChargeInput, ChargeOutcome, CreditInput } from '../../../src/contract/charge.js';
import { paymentActionsWorkflowId, paymentWorkflowId, riskWorkflowId } from '../../../src/contract/names.js';
import type { Outcome } from '../../../src/contract/messages.js';
import type { AnalyseRiskInput } from '../../../src/contract/risk.js';
import { offersNoReads, type ProfileUnit } from '../../stack/profile-units.js';
import { isEnd, newPaymentRecord, type PaymentRecord, type Operation } from '../../audit/payment-record.js';
import { isOnFile } from './operator.js';
import {
  type DriverContext,
  type OnFile,
  askUntilAnswered,
  NoAnswerInTime,
  type RetryBudget,
} from './driver-context.js';
import { ExternalActor } from './external-actor.js';
import { SubscriptionDriver, type Wanted } from './subscription-driver.js';

/** Pause in ms before a retry after an answer that is not final. */
const ASK_AGAIN_MS = 250;
/** Used where an answer may take as long as a deadline, because every request adds an entry to the history. */
const END_AGAIN_MS = 1_000;

type CommandName = 'capture' | 'void' | 'refund';
type CommandRequest = {
  commandId?: string;
  reference?: string;
  amount?: number;
  captureId?: string;
  who?: string;
  why?: string;
  confirmDisputed?: true;
};
type Expected = Operation['expected'];
/** Input of a flow without the fields that the driver fills in. */
type Without<Input> = Omit<
  Input,
  'reference' | 'currency' | 'amount' | 'businessUnit' | 'paymentMethod' | 'customer' | 'customerId'
>;

/**
 * Drives one flow as a careful business service does: it retries the same request while Temporal is unavailable or the
 * outcome is unknown or pending, and records refusals and final answers.
 */
export class FlowDriver {
  readonly record: PaymentRecord;
  readonly #parts: DriverContext;
  /** The provider accepts a void of what a partial capture leaves, and the flows send one. */
  readonly releasesByVoid: boolean;
  /** The service offers no reads that resolve an unknown outcome. */
  readonly withoutReads: boolean;
  readonly #unit: ProfileUnit;
  /** Actions of others on this flow. */
  readonly external: ExternalActor;
  readonly #others: FlowDriver[] = [];
  #askForOutcome: ((waitFor: number) => Promise<Outcome>) | undefined;
  #subscription: SubscriptionDriver | undefined;

  constructor(parts: DriverContext, record: PaymentRecord, unit: ProfileUnit) {
    this.#parts = parts;
    this.record = record;
    this.#unit = unit;
    this.releasesByVoid = unit.voidAfterPartialCapture === true;
    this.withoutReads = offersNoReads(unit);
    if (this.withoutReads) record.withoutReads = true;
    record.businessUnit = unit.name;
    this.external = new ExternalActor(parts, record, unit);
  }

  get paymentId(): string {
    return this.record.paymentId ?? '';
  }

  /** This flow's reference with `suffix`. Each operation gets its own. */
  reference(suffix: string): string {
    return `${this.record.reference}-${suffix}`;
  }

  async charge(card: string | OnFile, more: Without<ChargeInput> = {}): Promise<ChargeOutcome> {
    const input: ChargeInput = { ...(await this.#input(card)), ...more };
    return await this.#begin('charge', (waitFor) => this.#parts.holdfast.charge(input, { waitFor }));
  }

  async authorize(card: string | OnFile, more: Without<AuthorizeInput> = {}): Promise<AuthorizeOutcome> {
    const input: AuthorizeInput = { ...(await this.#input(card)), ...more };
    return await this.#begin('authorization', (waitFor) => this.#parts.holdfast.authorize(input, { waitFor }));
  }

  async credit(card: string | OnFile): Promise<Outcome> {
    const input: CreditInput = await this.#input(card);
    return await this.#begin('credit', (waitFor) => this.#parts.holdfast.credit(input, { waitFor }));
  }

  async analyseRisk(card: string, more: Without<AnalyseRiskInput>): Promise<Outcome> {
    this.record.analysisOnly = true;
    const input: AnalyseRiskInput = { ...(await this.#input(card)), ...more };
    return await this.#begin('risk', (waitFor) => this.#parts.holdfast.analyseRisk(input, { waitFor }));
  }

  /** Stores a card and checks whether it is on file. `hindered` plants a fault for this card only. */
  async storeCard(
    card: string,
    more: Without<StoreCardInput> & { buyer?: string; hindered?: (token: string) => Promise<void> } = {},
  ): Promise<StoreCardOutcome> {
    const { buyer = this.reference('buyer'), hindered, ...wanted } = more;
    const known = await this.#input(card);
    const input: StoreCardInput = { ...known, customer: { customerReference: buyer }, ...wanted };
    const { token } = input.paymentMethod;
    await hindered?.(token);
    const ended = await this.#begin(wanted.consent?.by ?? 'authorization', (waitFor) =>
      this.#parts.holdfast.storeCard(input, { waitFor }),
    );
    this.record.cardOnFile = await this.isOnFile(buyer, token);
    return ended;
  }

  async isOnFile(buyer: string, token: string): Promise<boolean> {
    return await isOnFile(this.#parts.sandboxUrl, this.#unit, buyer, token);
  }

  /** Removes a card from file, twice at once, as two callers of the same command. */
  async removeCard({ customerId, token }: OnFile): Promise<void> {
    const { name: businessUnit } = this.#unit;
    const removal = { customerId, token, businessUnit, commandId: 'off' };
    const retryBudget = this.#retryBudget(ASK_AGAIN_MS);
    const remove = () =>
      askUntilAnswered(
        retryBudget,
        () => this.#parts.holdfast.removeCard(removal),
        () => 'enough',
      );
    const refusals = await Promise.all([remove(), remove()]);
    for (const refusal of refusals) this.expect(refusal === undefined, `removing its card: ${refusal?.message}`);
  }

  /** A driver for a further payment of the same scenario, with its own record. */
  another(suffix: string): FlowDriver {
    const { number, scenario, profile, amount, currency } = this.record;
    const reference = this.reference(suffix);
    const record = newPaymentRecord({
      ...{ number, scenario, profile, reference, amount, currency },
      partOf: this.record.reference,
    });
    this.#parts.addRecord(record);
    const driver = new FlowDriver(this.#parts, record, this.#unit);
    this.#others.push(driver);
    return driver;
  }

  /** Subscribes a card on file. */
  async subscribe(card: OnFile, wanted: Wanted): Promise<SubscriptionDriver> {
    this.#subscription = new SubscriptionDriver(this.#parts, this.record, card, wanted);
    await this.#subscription.begin();
    return this.#subscription;
  }

  /** Sends a command to the flow that made the payment or, if `late`, to the payment by its id. */
  async command(
    name: CommandName,
    request: CommandRequest,
    { expected = 'succeeded', late = false }: { expected?: Expected; late?: boolean } = {},
  ): Promise<Operation> {
    const { reference, commandId } = request;
    const operation: Operation = {
      what: name,
      expected,
      ...(commandId !== undefined && { commandId }),
      ...(reference !== undefined && { reconciliationId: reference }),
      ...(request.confirmDisputed === true && { confirmsDispute: true }),
    };
    this.record.operations.push(operation);
    const { businessUnit, currency } = this.record;
    const payment = late ? { payment: this.paymentId, businessUnit, currency } : this.record.reference;
    const { holdfast } = this.#parts;
    const give = (waitFor: number) => {
      if (name === 'refund') return holdfast.refund({ payment, ...request }, { waitFor });
      return name === 'capture'
        ? holdfast.capture(payment, request, { waitFor })
        : holdfast.void(payment, request, { waitFor });
    };
    await this.#ask(operation, isEnd, ASK_AGAIN_MS, async (waitFor) => ({ amount: 0, ...(await give(waitFor)) }));
    return operation;
  }

  /** Waits until the money is held or the flow has ended without a hold. */
  async untilHeld(): Promise<void> {
    await this.#follow((outcome) => isEnd(outcome) || outcome.status === 'authorized');
  }

  /** Waits for the final outcome of the flow that made the payment. */
  async ended(): Promise<void> {
    await this.#follow(isEnd);
  }

  async #follow(stops: (outcome: Outcome) => boolean): Promise<void> {
    const ask = this.#askForOutcome;
    if (this.record.outcome !== undefined || ask === undefined) return;
    const operation: Operation = { what: 'risk', expected: 'any' };
    await this.#ask(operation, stops, END_AGAIN_MS, ask);
    if (operation.answer !== undefined) this.#note(operation.answer);
    if (operation.refusal !== undefined)
      this.record.violations.push(`its flow ended with an error: ${operation.refusal.message}`);
  }

  /** Records a violation unless `holds`. */
  expect(holds: boolean, sentence: string): void {
    if (!holds) this.record.violations.push(sentence);
  }

  /** Makes all flows of this record retry now, ignoring errors of flows that have ended or never started. */
  async lookNow(): Promise<void> {
    for (const workflowId of await this.flows()) {
      try {
        await this.#parts.holdfast.retryNow({ workflowId });
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
      }
    }
  }

  /** Workflow ids of all flows of this record, those of its further payments first. */
  async flows(): Promise<string[]> {
    const ofOthers = await Promise.all(this.#others.map((other) => other.flows()));
    const ofSubscription = (await this.#subscription?.flows()) ?? [];
    const { reference, paymentId, analysisOnly } = this.record;
    const own = analysisOnly ? riskWorkflowId(reference) : paymentWorkflowId(reference);
    const later = paymentId === undefined ? [] : [paymentActionsWorkflowId(paymentId)];
    return [...ofOthers.flat(), ...ofSubscription, own, ...later];
  }

  async #input(card: string | OnFile) {
    const { reference, amount, currency } = this.record;
    const { publicKey, name: businessUnit } = this.#unit;
    const known = { reference, amount, currency, businessUnit };
    if (typeof card !== 'string') {
      const { customerId, token, cardOnFile } = card;
      return { ...known, paymentMethod: { type: 'tokenized' as const, token }, customerId, cardOnFile };
    }
    const { token } = await this.#parts.sandbox.tokenize({ cardNumber: card, publicKey });
    return { ...known, paymentMethod: { type: 'tokenized' as const, token } };
  }

  /** Starts the flow that makes the payment. An authorization and an open review count as answers too. */
  async #begin<Answer extends Outcome>(
    what: Operation['what'],
    ask: (waitFor: number) => Promise<Answer>,
  ): Promise<Answer> {
    this.#askForOutcome = ask;
    const operation: Operation = { what, expected: 'any', amount: this.record.amount };
    this.record.operations.push(operation);
    const stops = (outcome: Outcome): boolean =>
      isEnd(outcome) || outcome.status === 'authorized' || outcome.status === 'underReview';
    await this.#ask(operation, stops, ASK_AGAIN_MS, ask);
    if (operation.answer === undefined) throw operation.refusal ?? new NoAnswerInTime();
    this.#note(operation.answer);
    return operation.answer as Answer;
  }

  #retryBudget(pauseMs: number): RetryBudget {
    const { longestPauseMs, waitForMs } = this.#parts;
    return { limit: () => this.#parts.limit(), pauseMs, longestPauseMs, waitForMs };
  }

  #note(outcome: Outcome): void {
    if (outcome.paymentId !== undefined) this.record.paymentId ??= outcome.paymentId;
    if (isEnd(outcome)) this.record.outcome = outcome;
  }

  async #ask(
    operation: Operation,
    stops: (outcome: Outcome) => boolean,
    pauseMs: number,
    call: (waitFor: number) => Promise<Outcome>,
  ): Promise<void> {
    const refusal = await askUntilAnswered(this.#retryBudget(pauseMs), call, (answer) => {
      operation.answer = answer;
      return stops(answer) ? 'enough' : 'ask again';
    });
    if (refusal === undefined) return;
    operation.refusal = refusal;
    delete operation.answer;
  }
}
