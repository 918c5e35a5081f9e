import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { HoldfastError, type HoldfastClient } from '../../../src/client/index.js';
import type { AuthorizeInput, AuthorizeOutcome } from '../../../src/contract/authorize.js';
import type { ChargeInput, ChargeOutcome } from '../../../src/contract/charge.js';
import type { CreditInput } from '../../../src/contract/credit.js';
import { paymentActionsWorkflowId, paymentWorkflowId, riskWorkflowId } from '../../../src/contract/names.js';
import type { Outcome } from '../../../src/contract/outcomes.js';
import type { AnalyseRiskInput } from '../../../src/contract/risk.js';
import type { SandboxControl } from '../../../src/sandbox/control.js';
import type { ProfileUnit } from '../profile-units.js';
import { isEnd, type Account, type Told } from './account.js';

/** Pause before the same question is put again after an answer that is not final. */
const ASK_AGAIN_MS = 250;
/** For what may take as long as a deadline: every question is an entry in the history. */
const END_AGAIN_MS = 1_000;
const WAIT_FOR_MS = 10_000;

export interface DeskParts {
  holdfast: HoldfastClient;
  temporal: Client;
  sandbox: SandboxControl;
  /** Epoch ms by which whoever still has no answer gives up. */
  limit(): number;
}

/** Its caller has no final answer by the time at which everything should have one. */
export class GaveUp extends Error {
  override readonly name = 'GaveUp';
}

type CommandName = 'capture' | 'void' | 'refund';
type CommandRequest = {
  commandId?: string;
  reference?: string;
  amount?: number;
  captureId?: string;
};
type Expected = Told['expected'];
/** What a flow that makes a payment is asked with, but for what the desk itself knows. */
type Without<Input> = Omit<Input, 'reference' | 'currency' | 'amount' | 'businessUnit' | 'paymentMethod'>;

/**
 * Asks for one flow as a careful business service does: an engine that is away, an answer that is not known yet
 * and one that is pending all mean "ask the same again"; a refusal and a final answer are noted.
 */
export class Desk {
  readonly account: Account;
  readonly #parts: DeskParts;
  /** The provider takes a void of what a capture has left. */
  readonly releasesByVoid: boolean;
  readonly #unit: ProfileUnit;
  #askForOutcome: ((waitFor: number) => Promise<Outcome>) | undefined;

  constructor(parts: DeskParts, account: Account, unit: ProfileUnit) {
    this.#parts = parts;
    this.account = account;
    this.#unit = unit;
    this.releasesByVoid = unit.profile.partial_capture_void === 'allowed';
    account.businessUnit = unit.name;
  }

  get paymentId(): string {
    return this.account.paymentId ?? '';
  }

  /** The reference of this flow with `suffix`: one for each operation. */
  reference(suffix: string): string {
    return `${this.account.reference}-${suffix}`;
  }

  async charge(card: string, more: Without<ChargeInput> = {}): Promise<ChargeOutcome> {
    const input: ChargeInput = { ...(await this.#input(card)), ...more };
    return await this.#begin('charge', (waitFor) => this.#parts.holdfast.charge(input, { waitFor }));
  }

  async authorize(card: string, more: Without<AuthorizeInput> = {}): Promise<AuthorizeOutcome> {
    const input: AuthorizeInput = { ...(await this.#input(card)), ...more };
    return await this.#begin('authorization', (waitFor) => this.#parts.holdfast.authorize(input, { waitFor }));
  }

  async credit(card: string): Promise<Outcome> {
    const input: CreditInput = await this.#input(card);
    return await this.#begin('credit', (waitFor) => this.#parts.holdfast.credit(input, { waitFor }));
  }

  async analyseRisk(card: string, more: Without<AnalyseRiskInput>): Promise<Outcome> {
    this.account.analysisOnly = true;
    const input: AnalyseRiskInput = { ...(await this.#input(card)), ...more };
    return await this.#begin('risk', (waitFor) => this.#parts.holdfast.analyseRisk(input, { waitFor }));
  }

  /** To the flow that made the payment; `late`: to the payment by its id. */
  async command(
    name: CommandName,
    request: CommandRequest,
    { expected = 'succeeded', late = false }: { expected?: Expected; late?: boolean } = {},
  ): Promise<Told> {
    const { reference, commandId } = request;
    const told: Told = {
      what: name,
      expected,
      ...(commandId !== undefined && { commandId }),
      ...(reference !== undefined && { reconciliationId: reference }),
    };
    this.account.told.push(told);
    const { businessUnit } = this.account;
    const payment = late ? { payment: this.paymentId, businessUnit, currency: 'USD' } : this.account.reference;
    const { holdfast } = this.#parts;
    await this.#ask(told, isEnd, ASK_AGAIN_MS, (waitFor) => {
      if (name === 'refund') return holdfast.refund({ payment, ...request }, { waitFor });
      return name === 'capture'
        ? holdfast.capture(payment, request, { waitFor })
        : holdfast.void(payment, request, { waitFor });
    });
    return told;
  }

  /** Waits until the money is held, or the flow that was to hold it has ended. */
  async untilHeld(): Promise<void> {
    await this.#follow((outcome) => isEnd(outcome) || outcome.status === 'authorized');
  }

  /** Waits for the end of the flow that made the payment. */
  async ended(): Promise<void> {
    await this.#follow(isEnd);
  }

  async #follow(stops: (outcome: Outcome) => boolean): Promise<void> {
    const ask = this.#askForOutcome;
    if (this.account.outcome !== undefined || ask === undefined) return;
    const told: Told = { what: 'risk', expected: 'any' };
    await this.#ask(told, stops, END_AGAIN_MS, ask);
    if (told.answer !== undefined) this.#note(told.answer);
    if (told.refusal !== undefined) this.account.wrongs.push(`its flow ended with an error: ${told.refusal.message}`);
  }

  /** Ends an open review, as an operator or as the risk provider does. */
  async decide(by: 'operator' | 'provider', decision: 'approve' | 'decline'): Promise<void> {
    const { holdfast, sandbox } = this.#parts;
    const { reference } = this.account;
    await this.#persist(async () => {
      if (by === 'operator') {
        const command = { who: 'ann@risk', why: 'known buyer', commandId: 'decide', decision } as const;
        await holdfast.decideReview(reference, command);
        return true;
      }
      const { transactionId } = await holdfast.status(reference);
      if (transactionId === undefined) return false;
      await sandbox.decideRisk(transactionId, decision);
      return true;
    });
  }

  /** Ends the flow that made the payment, as an operator may who no longer trusts it. */
  async terminate(): Promise<void> {
    const handle = this.#parts.temporal.workflow.getHandle(paymentWorkflowId(this.account.reference));
    this.account.terminated = true;
    await this.#persist(async () => {
      const { status } = await handle.describe();
      if (status.name === 'RUNNING') await handle.terminate('the payment is handled by hand');
      return status.name !== 'RUNNING';
    });
  }

  /** The next reply to a call of this method and path is lost after the service has acted. */
  async loseNextReply(resource: string): Promise<void> {
    const path = `/payments/${this.paymentId}/${resource}`;
    await this.#parts.sandbox.addFault({ action: 'drop_reply', method: 'POST', path, times: 1 });
  }

  /** What the scenario holds to be wrong. */
  expect(holds: boolean, sentence: string): void {
    if (!holds) this.account.wrongs.push(sentence);
  }

  /** Makes all flows of this account look at once. Those that have ended, or never began, say so. */
  async lookNow(): Promise<void> {
    const { reference, paymentId, analysisOnly } = this.account;
    const ids = [analysisOnly ? riskWorkflowId(reference) : paymentWorkflowId(reference)];
    if (paymentId !== undefined) ids.push(paymentActionsWorkflowId(paymentId));
    for (const workflowId of ids) {
      try {
        await this.#parts.holdfast.retryNow({ workflowId });
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
      }
    }
  }

  async #input(card: string) {
    const { reference, amount } = this.account;
    const { publicKey, name: businessUnit } = this.#unit;
    const { token } = await this.#parts.sandbox.tokenize({ cardNumber: card, publicKey });
    const paymentMethod = { type: 'tokenized' as const, token };
    return { reference, amount, currency: 'USD', businessUnit, paymentMethod };
  }

  /** Starts the flow that makes the payment; an authorization and an open review are answers too. */
  async #begin<Answer extends Outcome>(what: Told['what'], ask: (waitFor: number) => Promise<Answer>): Promise<Answer> {
    this.#askForOutcome = ask;
    const told: Told = { what, expected: 'any' };
    this.account.told.push(told);
    const stops = (outcome: Outcome): boolean =>
      isEnd(outcome) || outcome.status === 'authorized' || outcome.status === 'underReview';
    await this.#ask(told, stops, ASK_AGAIN_MS, ask);
    if (told.answer === undefined) throw told.refusal ?? new GaveUp();
    this.#note(told.answer);
    return told.answer as Answer;
  }

  #note(outcome: Outcome): void {
    if (outcome.paymentId !== undefined) this.account.paymentId ??= outcome.paymentId;
    if (isEnd(outcome)) this.account.outcome = outcome;
  }

  async #ask(
    told: Told,
    stops: (outcome: Outcome) => boolean,
    pauseMs: number,
    call: (waitFor: number) => Promise<Outcome>,
  ): Promise<void> {
    for (;;) {
      try {
        told.answer = await call(WAIT_FOR_MS);
        if (stops(told.answer)) return;
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
        if (error.type !== 'EngineUnavailable') {
          told.refusal = error;
          delete told.answer;
          return;
        }
      }
      await this.#pause(pauseMs);
    }
  }

  async #persist(attempt: () => Promise<boolean>): Promise<void> {
    for (;;) {
      try {
        if (await attempt()) return;
      } catch (error) {
        // What is no longer open needs no decision; what else is wrong shows in the end of the flow.
        if (error instanceof HoldfastError && error.type === 'StateConflict') return;
      }
      await this.#pause(END_AGAIN_MS);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (Date.now() >= this.#parts.limit()) throw new GaveUp();
    await sleep(ms);
  }
}
