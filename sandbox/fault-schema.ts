import { z } from 'zod';
import type { Fault, FaultAction } from './fault-record.js';

/** Fields of each action beyond those common to all actions, and whether they are required. */
const FIELDS: Readonly<Record<FaultAction, Readonly<Record<string, 'needed' | 'optional'>>>> = {
  drop_reply: { method: 'optional' },
  refuse: { method: 'optional' },
  status: { method: 'optional', status: 'needed', retry_after_s: 'optional', category: 'optional' },
  delay: { method: 'optional', delay_ms: 'needed' },
  garbage: { method: 'optional', after: 'optional' },
  result: {
    method: 'optional',
    status: 'needed',
    category: 'optional',
    sub_category: 'optional',
    shown_as: 'optional',
    documents: 'optional',
  },
  lose_event: {},
  repeat_event: {},
  delay_event: { delay_ms: 'needed' },
};
const ACTIONS = Object.keys(FIELDS) as FaultAction[];
const COMMON = ['action', 'path', 'reconciliation_id', 'probability', 'times'];
const RESULT_STATUSES = ['Succeed', 'Failed', 'Pending'];

const pattern = z.string().min(1).max(300);
const text = z.string().min(1).max(100_000).optional();
const document = z.strictObject({ descriptor: text, content_type: text, content: text, href: text });
/** All fields of a fault; `FIELDS` checks which of them its action accepts and requires. */
export const faultShape = z
  .strictObject({
    action: z.enum(ACTIONS as [FaultAction, ...FaultAction[]], `must be one of ${ACTIONS.join(', ')}`),
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE', '*'], 'must be GET, POST, PUT, DELETE or *').optional(),
    path: pattern.optional(),
    reconciliation_id: pattern.optional(),
    status: z.union([z.int(), z.string()], 'must be an HTTP status (action status) or a result status').optional(),
    retry_after_s: z.int().min(0).max(86_400).optional(),
    category: z.string().min(1).optional(),
    sub_category: z.string().min(1).optional(),
    shown_as: z.string().min(1).max(300).optional(),
    documents: z.array(document).max(50).optional(),
    delay_ms: z.int().min(0).max(86_400_000).optional(),
    probability: z.number().min(0).max(1).default(1),
    times: z.int().min(1).optional(),
    after: z.boolean().optional(),
  })
  .meta({
    examples: [
      { action: 'drop_reply', method: 'POST', path: '*/charges', times: 1 },
      { action: 'result', status: 'Failed', category: 'payment_method_declined', sub_category: 'insufficient_funds' },
    ],
  });

export type FaultRequest = Omit<Fault, 'id' | 'fired'>;

/** Parses a fault for the control API, or returns all its errors at once. */
export function parseFault(body: unknown): { fault: FaultRequest } | { errors: string[] } {
  const parsed = faultShape.safeParse(body);
  const errors = parsed.success ? [] : parsed.error.issues.map(sentence);
  errors.push(...errorsOfAction(body));
  return parsed.success && errors.length === 0 ? { fault: parsed.data } : { errors };
}

function errorsOfAction(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const fault = body as Record<string, unknown>;
  const action = fault['action'];
  if (typeof action !== 'string' || !Object.hasOwn(FIELDS, action)) return [];
  const fields = FIELDS[action as FaultAction];
  const errors: string[] = [];
  for (const [name, need] of Object.entries(fields)) {
    if (need === 'needed' && fault[name] === undefined) errors.push(`${name}: action ${action} needs it`);
  }
  for (const name of Object.keys(faultShape.shape)) {
    if (fault[name] === undefined || COMMON.includes(name) || Object.hasOwn(fields, name)) continue;
    errors.push(`${name}: action ${action} does not take it`);
  }
  const { status } = fault;
  if (action === 'status' && status !== undefined && !isErrorStatus(status)) {
    errors.push(`status: must be an HTTP status from 400 to 599, not ${JSON.stringify(status)}`);
  }
  if (action === 'result' && status !== undefined && !RESULT_STATUSES.includes(status as string)) {
    errors.push(`status: must be one of ${RESULT_STATUSES.join(', ')}, not ${JSON.stringify(status)}`);
  }
  if (action === 'result' && status !== 'Failed' && (fault['category'] ?? fault['sub_category']) !== undefined) {
    errors.push('category: only a Failed result has a category and sub-category');
  }
  if (action === 'result' && status !== 'Pending' && fault['shown_as'] !== undefined) {
    errors.push('shown_as: only a Pending result is shown as another word');
  }
  return errors;
}

function isErrorStatus(status: unknown): boolean {
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599;
}

function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${key}: is no field of a fault`).join('; ');
  return `${issue.path.join('.') || 'body'}: ${issue.message}`;
}
