import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Sandbox } from '../context.js';
import { RISK_STATUS } from '../mock-risk.js';
import { settle } from '../settlement.js';
import { controlBody, ControlError, notThere } from './control-route.js';

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
