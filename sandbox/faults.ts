import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Fault, FaultAction } from './fault-record.js';
import type { Store } from './store.js';

/** The request or event that faults are matched against. */
export interface FaultTarget {
  method?: string;
  /** Request path without its query, or an event type. */
  path: string;
  /** Called only if a fault names one. */
  reconciliationIds: () => readonly string[];
}

const EVENT_ACTIONS: readonly FaultAction[] = ['lose_event', 'repeat_event', 'delay_event'];
const REQUEST_ACTIONS: readonly FaultAction[] = ['drop_reply', 'refuse', 'status', 'garbage'];

/** Planted faults, matched in the order in which they were planted. */
export class Faults {
  constructor(
    private readonly store: Store,
    private readonly random: () => number = Math.random,
  ) {}

  add(fault: Omit<Fault, 'id' | 'fired'>): Fault {
    const planted = { id: randomUUID(), ...fault, fired: 0 };
    this.store.transaction(() => this.store.faults.put(planted));
    return planted;
  }

  list(): Fault[] {
    return [...this.store.faults.values()];
  }

  remove(id: string): boolean {
    const found = this.store.faults.get(id) !== undefined;
    this.store.transaction(() => this.store.faults.delete(id));
    return found;
  }

  removeAll(): void {
    this.store.transaction(() => {
      for (const { id } of this.list()) this.store.faults.delete(id);
    });
  }

  /** Returns the faults of a request: the sum of all delays, and at most one other action. */
  forRequest(target: FaultTarget): { delayMs: number; fault: Fault | undefined } {
    if (this.store.faults.size === 0) return { delayMs: 0, fault: undefined };
    return this.store.transaction(() => {
      const delays = this.fire(['delay'], target, Infinity);
      const [fault] = this.fire(REQUEST_ACTIONS, target, 1);
      return { delayMs: sumOfDelays(delays), fault };
    });
  }

  /** Returns the planted result that replaces the one that a transaction's card triggers. */
  forResult(target: FaultTarget): Fault | undefined {
    return this.store.faults.size === 0 ? undefined : this.fire(['result'], target, 1)[0];
  }

  /** Returns the faults of one event to one endpoint. */
  forEvent(target: FaultTarget): { lost: boolean; repeats: number; delayMs: number } {
    if (this.store.faults.size === 0) return { lost: false, repeats: 0, delayMs: 0 };
    const fired = this.fire(EVENT_ACTIONS, target, Infinity);
    return {
      lost: fired.some((fault) => fault.action === 'lose_event'),
      repeats: fired.filter((fault) => fault.action === 'repeat_event').length,
      delayMs: sumOfDelays(fired.filter((fault) => fault.action === 'delay_event')),
    };
  }

  private fire(actions: readonly FaultAction[], target: FaultTarget, atMost: number): Fault[] {
    const fired: Fault[] = [];
    for (const fault of this.list()) {
      if (fired.length >= atMost) break;
      if (!actions.includes(fault.action) || !fits(fault, target)) continue;
      if (fault.probability < 1 && this.random() >= fault.probability) continue;
      this.store.faults.put({ ...fault, fired: fault.fired + 1, ...(fault.times && { times: fault.times - 1 }) });
      fired.push(fault);
    }
    return fired;
  }
}

function fits(fault: Fault, target: FaultTarget): boolean {
  if (fault.times === 0) return false;
  if (fault.method !== undefined && target.method !== undefined && !matchesGlob(fault.method, target.method)) {
    return false;
  }
  if (fault.path !== undefined && !matchesGlob(fault.path, target.path)) return false;
  const { reconciliation_id: wanted } = fault;
  return wanted === undefined || target.reconciliationIds().some((id) => matchesGlob(wanted, id));
}

function sumOfDelays(faults: readonly Fault[]): number {
  return faults.reduce((sum, fault) => sum + (fault.delay_ms ?? 0), 0);
}

/** Fields of each action beyond those common to all actions, and whether they are required. */
const FIELDS: Readonly<Record<FaultAction, Readonly<Record<string, 'needed' | 'optional'>>>> = {
  drop_reply: { method: 'optional' },
  refuse: { method: 'optional' },
  status: {
    method: 'optional',
    status: 'needed',
    retry_after_s: 'optional',
    category: 'optional',
    after: 'optional',
  },
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

type FaultRequest = Omit<Fault, 'id' | 'fired'>;

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
  const { method } = fault;
  if (action === 'result' && method !== undefined && method !== 'POST' && method !== '*') {
    errors.push('method: only a POST has a result to plant');
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

/** Whether `text` fits `pattern`, in which `*` stands for any run of characters, slashes included. */
export function matchesGlob(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts[parts.length - 1] ?? '';
  if (parts.length === 1) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  // For the parts in between, the leftmost match always suffices.
  let position = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return position <= text.length - last.length;
}
