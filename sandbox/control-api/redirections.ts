import type { FastifyInstance } from 'fastify';
import type { Sandbox } from '../context.js';
import { settle } from '../settlement.js';
import { notThere } from './control-route.js';

/**
 * The page that a customer is redirected to, in place of a bank's. Opening it counts as the customer's action: the
 * transaction ends as its card or method triggers, and the browser returns to the merchant.
 */
export function redirectionPages(app: FastifyInstance, sandbox: Sandbox): void {
  app.get<{ Params: { payment: string; transaction: string } }>(
    '/redirections/:payment/:transaction',
    async (request, reply) => {
      const { payment, transaction: id } = request.params;
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
