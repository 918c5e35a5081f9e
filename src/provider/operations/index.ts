import type { z } from 'zod';
import { CUSTOMER_OPERATIONS } from './customers.js';
import type { PathParameter } from './operation.js';
import { PAYMENT_OPERATIONS } from './payments.js';
import { TRANSACTION_OPERATIONS } from './transactions.js';

/** Every call this client knows. A further one is a further row and, in `client.ts`, a method. */
export const OPERATIONS = { ...PAYMENT_OPERATIONS, ...TRANSACTION_OPERATIONS, ...CUSTOMER_OPERATIONS } as const;

export type OperationName = keyof typeof OPERATIONS;
type OperationOf<Name extends OperationName> = (typeof OPERATIONS)[Name];
export type ParametersOf<Name extends OperationName> = Record<PathParameter<OperationOf<Name>['path']>, string>;
export type AnswerOf<Name extends OperationName> = z.output<OperationOf<Name>['response']>;
