import type { z } from 'zod';

/** A published schema. */
export interface Published {
  schema: z.ZodType;
  description: string;
  /** A test keeps them valid. */
  examples: readonly unknown[];
}

export const TOKEN = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
export const PAYMENT_METHOD = { type: 'tokenized', token: TOKEN };
export const CUSTOMER_ID = '7d9a1f60-2c4b-4e8d-9a3f-6b5c4d3e2f10';
export const PAYMENT_ID = '6f3d2c1a-0b9e-4a77-8c55-1d2e3f405162';
export const TRANSACTION_ID = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
export const SHA_256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
