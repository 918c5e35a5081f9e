import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Sandbox } from '../context.js';
import { endpointSchema, endpointView, putEndpoint } from '../webhook-endpoints.js';
import { controlBody, ControlError, notThere } from './control-route.js';

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
