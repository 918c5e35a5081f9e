import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { businessUnit } from '../business-units.js';
import type { Sandbox } from '../context.js';
import { chosenResult, chosenRiskResult } from '../mock-provider.js';
import type { BusinessUnit } from '../records.js';
import type { Settings } from '../settings.js';
import { complete } from '../settlement.js';
import { controlBody, ControlError, notThere } from './control-route.js';

const DAY_MS = 86_400_000;
const TEN_YEARS_MS = 3_650 * DAY_MS;

export const settingsSchema = z.strictObject({
  pending_ms: z
    .int()
    .min(0)
    .max(7 * DAY_MS)
    .optional(),
  resend_first_ms: z.int().min(1).max(DAY_MS).optional(),
  event_delay_ms: z.int().min(0).max(DAY_MS).optional(),
  hold_ms: z
    .int()
    .min(1)
    .max(365 * DAY_MS)
    .optional(),
  event_order: z.enum(['kept', 'parallel']).optional(),
});
export const clockSchema = z.strictObject({ advance_ms: z.int().min(0).max(TEN_YEARS_MS) });
export const completeSchema = z.strictObject({
  status: z.enum(['Succeed', 'Failed'], 'must be Succeed or Failed'),
  category: z.string().min(1).optional(),
  sub_category: z.string().min(1).optional(),
});

/** Routes for health, reset, settings, clock, and for ending a transaction manually. */
export function runRoutes(app: FastifyInstance, sandbox: Sandbox, reset: () => void): void {
  app.get('/health', async () => health(sandbox));

  app.post('/reset', async (request) => {
    const changes = controlBody(request, settingsSchema);
    reset();
    changeSettings(sandbox, changes);
    return health(sandbox);
  });

  app.post('/settings', async (request) => {
    changeSettings(sandbox, controlBody(request, settingsSchema));
    return health(sandbox);
  });

  app.post('/clock', async (request) => {
    const { advance_ms: advance } = controlBody(request, clockSchema);
    const offset = sandbox.clock.offsetMs + advance;
    if (offset > 10 * TEN_YEARS_MS) throw new ControlError(400, ['advance_ms: the clock is 100 years ahead already']);
    sandbox.store.transaction(() => sandbox.store.settings.put({ name: 'clock_offset_ms', value: offset }));
    sandbox.schedule.advanceTo(offset);
    return health(sandbox);
  });

  app.post<{ Params: { id: string } }>('/transactions/:id/complete', async (request, reply) => {
    const { status, category, sub_category: subCategory } = controlBody(request, completeSchema);
    const { id } = request.params;
    const transaction = sandbox.store.transactions.get(id);
    if (transaction === undefined) return notThere(reply, 'transaction', id);
    const chosen = transaction.kind === 'risk-analysis' ? chosenRiskResult : chosenResult;
    const result = chosen(status, category, subCategory);
    if (!complete(sandbox, id, result)) {
      const only = 'only Pending, or a Failed whose provider is asked again, can end';
      throw new ControlError(409, [`transaction ${id} is ${transaction.result.status} already: ${only}`]);
    }
    return {
      transaction_id: id,
      payment_id: transaction.paymentId,
      result: sandbox.store.transactions.get(id)?.result,
    };
  });
}

function changeSettings(sandbox: Sandbox, changes: z.infer<typeof settingsSchema>): void {
  const settings: Settings = {
    pendingMs: changes.pending_ms ?? sandbox.settings.pendingMs,
    resendFirstMs: changes.resend_first_ms ?? sandbox.settings.resendFirstMs,
    eventDelayMs: changes.event_delay_ms ?? sandbox.settings.eventDelayMs,
    holdMs: changes.hold_ms ?? sandbox.settings.holdMs,
    eventOrder: changes.event_order ?? sandbox.settings.eventOrder,
  };
  sandbox.store.transaction(() => sandbox.store.settings.put({ name: 'settings', value: settings }));
  Object.assign(sandbox.settings, settings);
}

function health({ store, clock, settings }: Sandbox) {
  return {
    status: 'ok',
    now: new Date(clock.now()).toISOString(),
    clock_offset_ms: clock.offsetMs,
    pending_ms: settings.pendingMs,
    resend_first_ms: settings.resendFirstMs,
    event_delay_ms: settings.eventDelayMs,
    hold_ms: settings.holdMs,
    event_order: settings.eventOrder,
    payments: store.payments.size,
    transactions: store.transactions.size,
    faults: store.faults.size,
    deliveries: store.deliveries.size,
  };
}

const key = z.string().min(1).max(200);
export const unitSchema = z.strictObject({
  app_id: z.string().regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be 1 to 100 letters, digits or . _ -'),
  private_key: key.optional(),
  public_key: key.optional(),
  account_id: z.uuid().optional(),
  saq_d: z.boolean().optional(),
  profile: z
    .strictObject({
      key_scope: z.enum(['path', 'unit']).optional(),
      state_checks: z.enum(['after_key_lookup', 'before_key_lookup']).optional(),
      same_key_in_flight: z.enum(['wait', 'conflict']).optional(),
      list_lag_ms: z.int().min(0).max(86_400_000).optional(),
      reads_lag_ms: z.int().min(0).max(86_400_000).optional(),
      echo_reconciliation_id: z.boolean().optional(),
      echo_additional_details: z.boolean().optional(),
      replay_network_errors: z.boolean().optional(),
      provider_errors: z.enum(['replayed', 'asked_again']).optional(),
      sums: z.enum(['unchecked', 'strict', 'ignored']).optional(),
      expired_hold: z.enum(['voids_payment', 'fails_capture']).optional(),
      reauthorization: z.enum(['refused', 'allowed']).optional(),
      second_charge: z.enum(['refused', 'allowed']).optional(),
      beside_pending: z.enum(['refused', 'allowed']).optional(),
      partial_capture_void: z.enum(['refused', 'allowed', 'cancels']).optional(),
      pending_void: z.enum(['refused', 'allowed', 'too_late']).optional(),
      consent_ids: z.enum(['unchecked', 'strict']).optional(),
      consent_id_field: z
        .string()
        .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be the name of a field, such as scheme_reference')
        .optional(),
      repeated_payment: z.enum(['by_version', 'first_answer', 'updates']).optional(),
      reading: z.enum(['observed', 'interface']).optional(),
      offers: z.enum(['all', 'interface']).optional(),
    })
    .optional(),
});

export function unitRoutes(app: FastifyInstance, { store, clock }: Sandbox): void {
  /** Adds a unit or changes the named fields of an existing one (a new private key is a rotation). */
  app.post('/business-units', async (request, reply) => {
    const body = controlBody(request, unitSchema);
    const before = store.units.get(body.app_id);
    const requested = {
      appId: body.app_id,
      privateKey: body.private_key,
      publicKey: body.public_key,
      accountId: body.account_id,
      saqD: body.saq_d,
      profile: body.profile,
    };
    const unit = businessUnit(requested, before, clock.now());
    const taken = [...store.units.values()].find(
      (other) => other.appId !== unit.appId && other.publicKey === unit.publicKey,
    );
    if (taken !== undefined) throw new ControlError(400, [`public_key: is that of business unit ${taken.appId}`]);
    store.transaction(() => store.units.put(unit));
    // Only this answer shows the key: there is no other way to get a random one.
    return reply.code(201).send({ ...unitView(unit), private_key: unit.privateKey });
  });

  app.get('/business-units', async () =>
    [...store.units.values()].map((unit) => ({ ...unitView(unit), private_key: 'set' })),
  );
}

function unitView({ appId, publicKey, accountId, saqD, profile }: BusinessUnit) {
  return { app_id: appId, public_key: publicKey, account_id: accountId, saq_d: saqD, profile };
}
