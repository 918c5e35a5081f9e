import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Sandbox } from '../context.js';
import { parseFault } from '../faults.js';
import { RISK_STATUS } from '../mock-provider.js';
import { settle } from '../settlement.js';
import { notThere, controlBody, ControlError, jsonOf } from './control-route.js';

/**
 * The page that a customer is redirected to, in place of a bank's. Opening it counts as the customer's action: the
 * transaction ends as its card or method triggers, and the browser returns to the merchant.
 */
export function redirectionPages(app: FastifyInstance, sandbox: Sandbox): void {
  app.get<{ Params: { payment_id: string; transaction_id: string } }>(
    '/redirections/:payment_id/:transaction_id',
    async (request, reply) => {
      const { payment_id: payment, transaction_id: id } = request.params;
      const transaction = sandbox.store.transactions.get(id);
      const { redirection, settlement } = transaction ?? {};
      if (transaction?.paymentId !== payment || redirection === undefined) return notThere(reply, 'redirection', id);
      if (settlement !== undefined) settle(sandbox, id, settlement.result);
      const { merchantSiteUrl: site } = redirection;
      if (/^https?:/i.test(site) && URL.canParse(site)) return reply.redirect(new URL(site).href, 303);
      return reply.send({ done: true, merchant_site_url: site });
    },
  );
}

export const decideSchema = z.strictObject({
  decision: z.enum(['approve', 'decline'], 'must be approve or decline'),
});

/** The manual review: turns `review` into a final decision and sends its event. */
export function riskRoutes(app: FastifyInstance, sandbox: Sandbox): void {
  app.post<{ Params: { id: string } }>('/risk-analyses/:id/decide', async (request, reply) => {
    const { decision } = controlBody(request, decideSchema);
    const { id } = request.params;
    const analysis = sandbox.store.transactions.get(id);
    if (analysis?.kind !== 'risk-analysis') return notThere(reply, 'risk analysis', id);
    if (!settle(sandbox, id, { status: RISK_STATUS[decision] })) {
      throw new ControlError(409, [`risk analysis ${id} is ${analysis.result.status} already: only a review can end`]);
    }
    return { risk_analysis_id: id, payment_id: analysis.paymentId, decision };
  });
}

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
