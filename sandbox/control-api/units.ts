import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { businessUnit } from '../business-units.js';
import type { Sandbox } from '../context.js';
import type { BusinessUnit } from '../records.js';
import { controlBody, ControlError } from './control-route.js';

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
      echo_reconciliation_id: z.boolean().optional(),
      echo_additional_details: z.boolean().optional(),
      replay_network_errors: z.boolean().optional(),
      sums: z.enum(['unchecked', 'strict', 'ignored']).optional(),
      expired_hold: z.enum(['voids_payment', 'fails_capture']).optional(),
      reauthorization: z.enum(['refused', 'allowed']).optional(),
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
