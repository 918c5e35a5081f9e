import type { FastifyInstance } from 'fastify';
import type { Sandbox } from '../context.js';
import { parseFault } from '../fault-schema.js';
import { ControlError, jsonOf, notThere } from './control-route.js';

export function faultRoutes(app: FastifyInstance, { faults }: Sandbox): void {
  app.post('/faults', async (request, reply) => {
    const parsed = parseFault(jsonOf(request));
    if ('errors' in parsed) throw new ControlError(400, parsed.errors);
    return reply.code(201).send(faults.add(parsed.fault));
  });

  app.get('/faults', async () => faults.list());

  app.delete('/faults', async (_request, reply) => {
    faults.removeAll();
    return reply.code(204).send();
  });

  app.delete<{ Params: { id: string } }>('/faults/:id', async (request, reply) => {
    const { id } = request.params;
    return faults.remove(id) ? reply.code(204).send() : notThere(reply, 'fault', id);
  });
}
