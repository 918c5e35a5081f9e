import type { OperationName } from '../../../src/provider/index.js';
import { CUSTOMER_EXAMPLES } from './customer-examples.js';
import type { Example } from './example.js';
import { PAYMENT_EXAMPLES } from './payment-examples.js';
import { TRANSACTION_EXAMPLES } from './transaction-examples.js';

export { OPTIONS, wireOf } from './example.js';

/** One call of each operation, with what it must be on the wire and what must come back from there. */
export const EXAMPLES: Record<OperationName, Example> = {
  ...PAYMENT_EXAMPLES,
  ...TRANSACTION_EXAMPLES,
  ...CUSTOMER_EXAMPLES,
};
