import { z } from 'zod';
import type { HoldfastClient } from '../client/holdfast-client.js';
import type { WaitOptions } from '../client/wait-options.js';
import { HoldfastError } from '../client/errors.js';
import { checkInput, checkSubscriptionInput, type FlowRequest, makeRequest } from '../client/start-options.js';
import { show } from '../contract/fields.js';
import { FLOWS } from '../contract/flows.js';
import type { Statement, StatementEntry } from '../domain/statement.js';
import { type Line, type LineOf, parseLines, sayFaults } from './line-file.js';

/** How a flow of one type is asked for again. */
interface Row {
  /** @throws HoldfastError with every fault of the input */
  request(input: unknown): FlowRequest;
  ask(holdfast: HoldfastClient, input: never, wait: WaitOptions): Promise<object>;
  /** What the statement shows of it. */
  shown(statement: Statement, reference: string): readonly StatementEntry[] | undefined;
}

type Shown = Row['shown'];
const byReference: Shown = ({ entries }, reference) => entries.get(reference);
const byBills: Shown = ({ bills }, reference) => bills.get(reference);
const movesNoMoney: Shown = () => undefined;

/** By workflow type, what a business service starts. */
const ROWS = {
  charge: {
    request: (input) => makeRequest(FLOWS.charge, checkInput(FLOWS.charge.schema, input)),
    ask: (holdfast, input, wait) => holdfast.charge(input, wait),
    shown: byReference,
  },
  authorizeAndCapture: {
    request: (input) => makeRequest(FLOWS.authorizeAndCapture, checkInput(FLOWS.authorizeAndCapture.schema, input)),
    ask: (holdfast, input, wait) => holdfast.authorize(input, wait),
    shown: byReference,
  },
  credit: {
    request: (input) => makeRequest(FLOWS.credit, checkInput(FLOWS.credit.schema, input)),
    ask: (holdfast, input, wait) => holdfast.credit(input, wait),
    shown: byReference,
  },
  storeCard: {
    request: (input) => makeRequest(FLOWS.storeCard, checkInput(FLOWS.storeCard.schema, input)),
    ask: (holdfast, input, wait) => holdfast.storeCard(input, wait),
    shown: byReference,
  },
  analyseRisk: {
    request: (input) => makeRequest(FLOWS.analyseRisk, checkInput(FLOWS.analyseRisk.schema, input)),
    ask: (holdfast, input, wait) => holdfast.analyseRisk(input, wait),
    shown: movesNoMoney,
  },
  subscription: {
    // That its first day is past is no fault of the file: a subscription that is known is joined all the same.
    request: (input) => makeRequest(FLOWS.subscription, checkSubscriptionInput(input).input),
    ask: (holdfast, input, wait) => holdfast.subscribe(input, wait),
    shown: byBills,
  },
  resolvePending: {
    request: (input) => makeRequest(FLOWS.resolvePending, checkInput(FLOWS.resolvePending.schema, input)),
    ask: (holdfast, input) => holdfast.resolvePending(input),
    shown: movesNoMoney,
  },
} as const satisfies Record<string, Row>;

/** One flow that is to be asked for again. */
interface Order extends LineOf {
  workflowType: string;
  taskQueue: string;
  /** The operations of this flow in the statement that take, hold or send money. */
  shown(statement: Statement): readonly StatementEntry[];
}
export type OrderLine = Line<Order>;

const types = Object.keys(ROWS) as (keyof typeof ROWS)[];
const lineSchema = z.strictObject({
  workflowType: z.enum(types, {
    error: ({ input }) => `${show(input)} can't be asked for again: use one of ${types.join(', ')}`,
  }),
  input: z.unknown().optional(),
});

/**
 * Parses the merchant's own table of orders: JSON lines of `{"workflowType","input"}`.
 * @returns every fault of every line
 */
export function parseOrder(source: string): { lines: OrderLine[] } | { faults: string[] } {
  const { lines, faults } = parseLines(source, parseOne);
  return faults.length > 0 ? { faults: sayFaults(faults) } : { lines };
}

function parseOne(value: unknown): { asked: Order } | { faults: readonly string[] } {
  const parsed = lineSchema.safeParse(value);
  if (!parsed.success)
    return {
      faults: parsed.error.issues.map(({ code, path, message }) =>
        code === 'unrecognized_keys' || path.length === 0
          ? 'must be {"workflowType":"charge","input":{...}}'
          : `${path.join('.')} ${message}`,
      ),
    };
  const { workflowType, input } = parsed.data;
  const row: Row = ROWS[workflowType];
  try {
    const { workflowId, taskQueue, subject } = row.request(input);
    const { reference } = subject;
    const asked: Order = {
      workflowType,
      workflowId,
      taskQueue,
      reference,
      ask: (holdfast, wait) => row.ask(holdfast, input as never, wait),
      shown: (statement) => row.shown(statement, reference) ?? [],
    };
    return { asked };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { faults: error.faults.length > 0 ? error.faults : [error.message] };
  }
}
