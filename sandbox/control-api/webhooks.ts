import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Sandbox } from '../context.js';
import { endpointSchema, endpointView, putEndpoint } from '../webhook-endpoints.js';
import type { Delivery } from '../webhook-records.js';
import { notThere, controlBody, ControlError, latestOf } from './control-route.js';

interface Filters {
  payment_id?: string;
  reconciliation_id?: string;
  event_type?: string;
  status?: string;
}

export function deliveryRoutes(app: FastifyInstance, { store, deliveries }: Sandbox): void {
  app.get<{ Querystring: Filters & { latest?: string } }>('/deliveries', async ({ query: { latest, ...filters } }) => {
    const fitting = [...store.deliveries.values()].filter((delivery) => fits(delivery, filters));
    return latestOf(fitting, latest).map(deliveryView);
  });

  app.get<{ Params: { id: string } }>('/deliveries/:id', async (request, reply) => {
    const { id } = request.params;
    const delivery = store.deliveries.get(id);
    if (delivery === undefined) return notThere(reply, 'delivery', id);
    const body = JSON.parse(store.cold(store.deliveries, id) ?? 'null') as unknown;
    return { ...deliveryView(delivery), body };
  });

  app.post<{ Params: { id: string } }>('/deliveries/:id/resend', async (request, reply) => {
    const { id } = request.params;
    const delivery = store.deliveries.get(id);
    if (delivery === undefined) return notThere(reply, 'delivery', id);
    return reply.code(202).send(deliveryView(deliveries.resend(delivery)));
  });
}

function fits(delivery: Delivery, filters: Filters): boolean {
  return (
    (filters.payment_id === undefined || filters.payment_id === delivery.paymentId) &&
    (filters.reconciliation_id === undefined || filters.reconciliation_id === delivery.reconciliationId) &&
    (filters.event_type === undefined || filters.event_type === delivery.eventType) &&
    (filters.status === undefined || filters.status === delivery.status)
  );
}

function deliveryView(delivery: Delivery) {
  return {
    id: delivery.id,
    status: delivery.status,
    attempts: delivery.attempts,
    event_type: delivery.eventType,
    event_id: delivery.eventId,
    url: delivery.url,
    version: delivery.version,
    app_id: delivery.appId,
    env: delivery.env,
    payment_id: delivery.paymentId,
    transaction_id: delivery.transactionId ?? null,
    reconciliation_id: delivery.reconciliationId ?? null,
    request_id: delivery.requestId,
    created: String(delivery.created),
    next_at: delivery.status === 'pending' ? String(delivery.nextAt) : null,
    last_status: delivery.lastStatus ?? null,
    last_error: delivery.lastError ?? null,
  };
}

export function endpointRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  const { store, deliveries } = sandbox;

  app.post('/webhook-endpoints', async (request, reply) => {
    const put = putEndpoint(sandbox, controlBody(request, endpointSchema));
    if ('errors' in put) throw new ControlError(400, put.errors);
    return reply.code(201).send(endpointView(put));
  });

  app.get('/webhook-endpoints', async () => [...store.endpoints.values()].map(endpointView));

  app.delete('/webhook-endpoints', async (request, reply) => {
    controlBody(request, z.strictObject({}));
    for (const { id } of [...store.endpoints.values()]) remove(id);
    return reply.code(204).send();
  });

  app.delete<{ Params: { id: string } }>('/webhook-endpoints/:id', async (request, reply) => {
    const { id } = request.params;
    if (store.endpoints.get(id) === undefined) return notThere(reply, 'webhook endpoint', id);
    remove(id);
    return reply.code(204).send();
  });

  const remove = (id: string): void => {
    store.transaction(() => {
      store.endpoints.delete(id);
      deliveries.cancelFor(id);
    });
  };
}
