import { z } from 'zod';
import { decideSchema } from '../control-api/risk.js';
import { clockSchema, completeSchema, settingsSchema } from '../control-api/run.js';
import { unitSchema } from '../control-api/units.js';
import { faultShape } from '../fault-schema.js';
import { endpointSchema } from '../webhook-endpoints.js';

/** An operation of the control API. */
export interface ControlOperation {
  operation: string;
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  request?: z.ZodType;
  query?: readonly string[];
  success: 200 | 201 | 202 | 204 | 303;
}

export const CONTROL_OPERATIONS: readonly ControlOperation[] = [
  { operation: 'health', method: 'GET', path: '/sandbox/health', success: 200 },
  { operation: 'reset', method: 'POST', path: '/sandbox/reset', request: settingsSchema, success: 200 },
  { operation: 'changeSettings', method: 'POST', path: '/sandbox/settings', request: settingsSchema, success: 200 },
  { operation: 'advanceClock', method: 'POST', path: '/sandbox/clock', request: clockSchema, success: 200 },
  { operation: 'ledger', method: 'GET', path: '/sandbox/ledger', query: ['reconciliation_id'], success: 200 },
  {
    operation: 'completeTransaction',
    method: 'POST',
    path: '/sandbox/transactions/{id}/complete',
    request: completeSchema,
    success: 200,
  },
  {
    operation: 'decideRiskAnalysis',
    method: 'POST',
    path: '/sandbox/risk-analyses/{id}/decide',
    request: decideSchema,
    success: 200,
  },
  { operation: 'plantFault', method: 'POST', path: '/sandbox/faults', request: faultShape, success: 201 },
  { operation: 'listFaults', method: 'GET', path: '/sandbox/faults', success: 200 },
  { operation: 'removeFaults', method: 'DELETE', path: '/sandbox/faults', success: 204 },
  { operation: 'removeFault', method: 'DELETE', path: '/sandbox/faults/{id}', success: 204 },
  {
    operation: 'putWebhookEndpoint',
    method: 'POST',
    path: '/sandbox/webhook-endpoints',
    request: endpointSchema,
    success: 201,
  },
  { operation: 'listWebhookEndpoints', method: 'GET', path: '/sandbox/webhook-endpoints', success: 200 },
  { operation: 'removeWebhookEndpoints', method: 'DELETE', path: '/sandbox/webhook-endpoints', success: 204 },
  { operation: 'removeWebhookEndpoint', method: 'DELETE', path: '/sandbox/webhook-endpoints/{id}', success: 204 },
  {
    operation: 'listDeliveries',
    method: 'GET',
    path: '/sandbox/deliveries',
    query: ['payment_id', 'reconciliation_id', 'event_type', 'status'],
    success: 200,
  },
  { operation: 'getDelivery', method: 'GET', path: '/sandbox/deliveries/{id}', success: 200 },
  { operation: 'resendDelivery', method: 'POST', path: '/sandbox/deliveries/{id}/resend', success: 202 },
  { operation: 'putBusinessUnit', method: 'POST', path: '/sandbox/business-units', request: unitSchema, success: 201 },
  { operation: 'listBusinessUnits', method: 'GET', path: '/sandbox/business-units', success: 200 },
  {
    operation: 'openRedirection',
    method: 'GET',
    path: '/sandbox/redirections/{payment_id}/{transaction_id}',
    success: 303,
  },
];

export const controlErrorSchema = z.object({ errors: z.array(z.string()).min(1) });
