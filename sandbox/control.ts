import { DEFAULT_UNIT } from './business-units.js';
import type { LedgerEntry } from './control-api/ledger.js';
import type {
  CardInput,
  DeliveryView,
  EndpointInput,
  FaultInput,
  Health,
  UnitInput,
  UnitView,
} from './control-shapes.js';
import type { Fault } from './fault-record.js';
import type { Environment } from './records.js';
import type { Settings as SandboxSettings } from './settings.js';

export { DEFAULT_UNIT, HOSTILE_PROFILES } from './business-units.js';
export type * from './control-shapes.js';

/** The sandbox's control API refused or failed; the message has the status and all faults of the answer. */
class SandboxControlError extends Error {
  override readonly name = 'SandboxControlError';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The part of the global `fetch` that this client needs. */
export type ControlFetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string },
) => Promise<{ readonly ok: boolean; readonly status: number; text(): Promise<string> }>;

/** A client of the control API, and of card tokenisation like a browser. `url` is the sandbox's URL. */
export class SandboxControl {
  private readonly base: string;

  /** @param send sends a request, for a sandbox that does not listen; default: the global `fetch` */
  constructor(
    url: string,
    private readonly send: ControlFetch = (address, init) => fetch(address, init),
  ) {
    this.base = url.replace(/\/$/, '');
  }

  health(): Promise<Health> {
    return this.call('GET', '/sandbox/health');
  }

  /** Restores the state at boot: no payments, no faults, only the configured endpoint; clock at real time. */
  reset(settings: Partial<SandboxSettings> = {}): Promise<Health> {
    return this.call('POST', '/sandbox/reset', settingsBody(settings));
  }

  settings(settings: Partial<SandboxSettings>): Promise<Health> {
    return this.call('POST', '/sandbox/settings', settingsBody(settings));
  }

  /** Returns all transactions, or those of one reconciliation id, with their present status. */
  ledger(reconciliationId?: string): Promise<LedgerEntry[]> {
    return this.call('GET', `/sandbox/ledger${queryOf({ reconciliation_id: reconciliationId })}`);
  }

  /** Returns also the risk analyses, which move no money, and the chargebacks, which are no transactions. */
  wholeLedger(): Promise<LedgerEntry[]> {
    return this.call('GET', '/sandbox/ledger?whole=true');
  }

  /** Returns the transactions of one payment, whatever their reconciliation ids, or those of the newest payments. */
  ledgerOf(asked: { paymentId?: string; latest?: number; env?: Environment }): Promise<LedgerEntry[]> {
    const { paymentId, latest, env } = asked;
    return this.call('GET', `/sandbox/ledger${queryOf({ payment_id: paymentId, latest: latest?.toString(), env })}`);
  }

  /** Returns the statement that a payment service exports, by default of all that it has. Times are ISO 8601. */
  statement(
    asked: { from?: string; until?: string; format?: 'jsonl' | 'csv'; appId?: string; env?: Environment } = {},
  ): Promise<string> {
    const { from, until, format, appId, env } = asked;
    return this.text('GET', `/sandbox/statement${queryOf({ from, until, format, app_id: appId, env })}`);
  }

  addFault(fault: FaultInput): Promise<Fault> {
    return this.call('POST', '/sandbox/faults', fault);
  }

  faults(): Promise<Fault[]> {
    return this.call('GET', '/sandbox/faults');
  }

  async removeFault(id: string): Promise<void> {
    await this.call('DELETE', `/sandbox/faults/${encodeURIComponent(id)}`);
  }

  async clearFaults(): Promise<void> {
    await this.call('DELETE', '/sandbox/faults');
  }

  /** Advances the sandbox's clock and runs what is then due: settlements and resends. Keys and tokens age. */
  advanceClock(ms: number): Promise<Health> {
    return this.call('POST', '/sandbox/clock', { advance_ms: ms });
  }

  /**
   * Ends a pending transaction now, or one that failed with `provider_network_error`, or in a unit that asks again with
   * `provider_error`: its money may have moved.
   */
  complete(
    transactionId: string,
    result: { status: 'Succeed' | 'Failed'; category?: string; subCategory?: string },
  ): Promise<{ transaction_id: string; payment_id: string; result: { status: string } }> {
    const { status, category, subCategory } = result;
    const body = { status, category, sub_category: subCategory };
    return this.call('POST', `/sandbox/transactions/${encodeURIComponent(transactionId)}/complete`, body);
  }

  /** The card holder disputes a charge or capture: its payment is charged back. */
  dispute(transactionId: string): Promise<{ payment_id: string; transaction_id: string; dispute_id: string }> {
    return this.call('POST', `/sandbox/transactions/${encodeURIComponent(transactionId)}/dispute`);
  }

  /** Ends the manual review of a risk analysis. */
  decideRisk(
    riskAnalysisId: string,
    decision: 'approve' | 'decline',
  ): Promise<{ risk_analysis_id: string; payment_id: string; decision: string }> {
    return this.call('POST', `/sandbox/risk-analyses/${encodeURIComponent(riskAnalysisId)}/decide`, { decision });
  }

  addWebhookEndpoint(endpoint: EndpointInput): Promise<EndpointInput & { id: string }> {
    return this.call('POST', '/sandbox/webhook-endpoints', { app_id: defaultAppId(endpoint), ...endpoint });
  }

  webhookEndpoints(): Promise<(EndpointInput & { id: string })[]> {
    return this.call('GET', '/sandbox/webhook-endpoints');
  }

  async removeWebhookEndpoint(id: string): Promise<void> {
    await this.call('DELETE', `/sandbox/webhook-endpoints/${encodeURIComponent(id)}`);
  }

  deliveries(
    filter: {
      paymentId?: string;
      reconciliationId?: string;
      eventType?: string;
      status?: string;
      /** So many of the newest. */
      latest?: number;
    } = {},
  ): Promise<DeliveryView[]> {
    const { paymentId, reconciliationId, eventType, status, latest } = filter;
    const query = {
      payment_id: paymentId,
      reconciliation_id: reconciliationId,
      event_type: eventType,
      status,
      latest: latest?.toString(),
    };
    return this.call('GET', `/sandbox/deliveries${queryOf(query)}`);
  }

  /** Returns one delivery with the event's body. */
  delivery(id: string): Promise<DeliveryView & { body: unknown }> {
    return this.call('GET', `/sandbox/deliveries/${encodeURIComponent(id)}`);
  }

  resend(deliveryId: string): Promise<DeliveryView> {
    return this.call('POST', `/sandbox/deliveries/${encodeURIComponent(deliveryId)}/resend`);
  }

  /** Adds a business unit, or changes the named fields of one. */
  putBusinessUnit(unit: UnitInput): Promise<UnitView> {
    return this.call('POST', '/sandbox/business-units', unit);
  }

  businessUnits(): Promise<UnitView[]> {
    return this.call('GET', '/sandbox/business-units');
  }

  /** Returns a card token, and the `encrypted_cvv` if a CVV was given. */
  async tokenize(card: string | CardInput): Promise<{ token: string; encryptedCvv?: string }> {
    const input = typeof card === 'string' ? { cardNumber: card } : card;
    const made = await this.call<{ token: string; encrypted_cvv?: string }>(
      'POST',
      '/tokens',
      {
        token_type: 'credit_card',
        holder_name: input.holderName ?? 'Ada Lovelace',
        expiration_date: input.expirationDate ?? '12/2030',
        card_number: input.cardNumber,
        credit_card_cvv: input.cvv,
      },
      {
        'api-version': input.apiVersion ?? '1.3.0',
        'x-svc-env': input.env ?? 'test',
        'public-key': input.publicKey ?? DEFAULT_UNIT.publicKey,
        ...(input.idempotencyKey === undefined ? {} : { 'idempotency-key': input.idempotencyKey }),
      },
    );
    return { token: made.token, ...(made.encrypted_cvv === undefined ? {} : { encryptedCvv: made.encrypted_cvv }) };
  }

  private async call<T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const text = await this.text(method, path, body, headers);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  private async text(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const answer = await this.send(`${this.base}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new SandboxControlError(answer.status, `${method} ${path}: ${answer.status} ${text}`);
    return text;
  }
}

function settingsBody(settings: Partial<SandboxSettings>) {
  return {
    pending_ms: settings.pendingMs,
    resend_first_ms: settings.resendFirstMs,
    event_delay_ms: settings.eventDelayMs,
    hold_ms: settings.holdMs,
    event_order: settings.eventOrder,
  };
}

function defaultAppId(endpoint: EndpointInput): string | undefined {
  return endpoint.app_ids === undefined ? DEFAULT_UNIT.appId : undefined;
}

function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}
