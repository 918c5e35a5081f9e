import type { FastifyInstance } from 'fastify';
import type { Sandbox } from '../context.js';
import { guardLoopback } from './control-route.js';
import { disputeRoutes } from './disputes.js';
import { deliveryRoutes, endpointRoutes } from './webhooks.js';
import { ledgerRoutes } from './ledger.js';
import { faultRoutes, redirectionPages, riskRoutes } from './transactions.js';
import { runRoutes, unitRoutes } from './run.js';
import { statementRoutes } from './statement.js';

/** Everything under `/sandbox`. `reset` restores the sandbox's state at boot. */
export function registerControlApi(app: FastifyInstance, sandbox: Sandbox, reset: () => void): void {
  app.register(
    async (scope) => {
      guardLoopback(scope, () => sandbox.baseUrl);
      runRoutes(scope, sandbox, reset);
      ledgerRoutes(scope, sandbox);
      statementRoutes(scope, sandbox);
      disputeRoutes(scope, sandbox);
      faultRoutes(scope, sandbox);
      endpointRoutes(scope, sandbox);
      deliveryRoutes(scope, sandbox);
      unitRoutes(scope, sandbox);
      riskRoutes(scope, sandbox);
      redirectionPages(scope, sandbox);
    },
    { prefix: '/sandbox' },
  );
}
