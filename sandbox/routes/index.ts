import type { Route } from '../route.js';
import { customerRoutes, paymentMethodRoutes } from './customers.js';
import { paymentRoutes, redirectionRoutes, supportedMethodRoutes } from './payments.js';
import { riskAnalysisRoutes, transactionRoutes } from './transactions.js';
import { tokenRoutes } from './tokens.js';

/** Every operation of the service. */
export const OPERATIONS: readonly Route[] = [
  ...paymentRoutes,
  ...transactionRoutes,
  ...riskAnalysisRoutes,
  ...redirectionRoutes,
  ...customerRoutes,
  ...paymentMethodRoutes,
  ...tokenRoutes,
  ...supportedMethodRoutes,
];
