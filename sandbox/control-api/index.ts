import type { FastifyInstance } from 'fastify';
import type { Sandbox } from '../context.js';
import { guardLoopback } from './control-route.js';
import { deliveryRoutes } from './deliveries.js';
import { endpointRoutes } from './endpoints.js';
import { faultRoutes } from './faults.js';
import { ledgerRoutes } from './ledger.js';
import { redirectionPages } from './redirections.js';
import { riskRoutes } from './risk.js';
import { runRoutes } from './run.js';
import { unitRoutes } from './units.js';

/** Everything under `/sandbox`. `reset` restores the sandbox's state at boot. */
export function registerControlApi(app: FastifyInstance, sandbox: Sandbox, reset: () => void): void {
  app.register(
    async (scope) => {
      guardLoopback(scope);
      runRoutes(scope, sandbox, reset);
      ledgerRoutes(scope, sandbox);
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
