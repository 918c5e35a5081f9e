import type { Route } from '../route.js';
import { customerRoutes } from './customers.js';
import { paymentMethodRoutes } from './payment-methods.js';
import { paymentRoutes } from './payments.js';
import { redirectionRoutes } from './redirections.js';
import { riskAnalysisRoutes } from './risk-analyses.js';
import { supportedMethodRoutes } from './supported-methods.js';
import { tokenRoutes } from './tokens.js';
import { transactionRoutes } from './transactions.js';

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
