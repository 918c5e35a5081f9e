import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fastify, type FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { DeliveryView, SandboxControl } from '../../sandbox/control.js';
import type { FlowRow } from '../../src/cli/flow-row.js';
import { HoldfastError } from '../../src/client/index.js';
import { paymentActionsWorkflowId } from '../../src/contract/names.js';
import type { Logger } from '../../src/security/logging.js';
import type { About, Overview, Part, PaymentDetails, PaymentRow } from './answers.js';
import { checkOut, checkoutSchema } from './checkout.js';
import { commandSchema, sendCommand } from './commands.js';
import { deliveryRow } from './deliveries.js';
import type { FlowReader } from './engine.js';
import { answerErrors, body, failureTexts, Refused } from './errors.js';
import { FAULT_KINDS, faultRow } from './fault-kinds.js';
import type { Holdfast } from './holdfast.js';
import { guardAgainstOtherSites, protectPage } from './guard.js';
import { servePage } from './page-files.js';
import { type LinkTo, ledgerOf, offersOf, paymentRow, paymentRows } from './payments.js';

export interface ConsoleParts {
  holdfast: Holdfast;
  flows: FlowReader;
  sandbox: Pick<
    SandboxControl,
    'health' | 'ledgerOf' | 'deliveries' | 'resend' | 'faults' | 'addFault' | 'removeFault' | 'advanceClock'
  >;
  about: About;
  linkTo: LinkTo;
  logger: Pick<Logger, 'error'>;
  /** Port that the `Host` of every request must have. Default: the one it listens on. */
  port?: number;
}

const SHOWN_FLOWS = 60;
const SHOWN_DELIVERIES = 40;
/** So many payments' transactions are read at once; those of older ones one by one. */
const LEDGER_PAYMENTS = 200;
/** A flow that no worker answers for is shown without its own words. */
const EXPLAIN_MS = 3_000;
const HOUR_MS = 3_600_000;

const faultSchema = z.strictObject({
  kind: z.enum(Object.keys(FAULT_KINDS) as [string, ...string[]]),
  /** Only what bears this reference meets the fault. Default: whatever comes next. */
  reference: z.string().min(1).max(100).optional(),
});
const clockSchema = z.strictObject({
  hours: z.int().min(1).max(8_760),
  /** The page has told what moving the clock can do. */
  understood: z.literal(true),
});

/** The server of the page for people. It listens nowhere yet. */
export function createConsole(parts: ConsoleParts): FastifyInstance {
  const { holdfast, flows, sandbox, about, linkTo, logger } = parts;
  const server = fastify({ logger: false, bodyLimit: 65_536, forceCloseConnections: true });
  const ownPort = (): number => parts.port ?? (server.server.address() as AddressInfo).port;
  protectPage(server, about.sandboxUrl);
  guardAgainstOtherSites(server, ownPort);
  const sayFailure = failureTexts(about.sandboxUrl, logger);
  answerErrors(server, sayFailure);
  servePage(server);

  /** What can't be read does not hide the rest. */
  const part = async <Value>(read: () => Promise<Value>): Promise<Part<Value>> => {
    try {
      return { value: await read() };
    } catch (error) {
      return { fault: sayFailure(error).what };
    }
  };
  const mayPay = (): void => {
    if (about.off !== undefined) throw new Refused(409, about.off);
  };

  server.get('/api/about', async () => about);

  server.get('/api/overview', async (): Promise<Overview> => {
    const [payments, deliveries, faults, clock] = await Promise.all([
      part(() => listPayments(parts)),
      part(async () => newestFirst(await sandbox.deliveries({ latest: SHOWN_DELIVERIES })).map(deliveryRow)),
      part(async () => (await sandbox.faults()).map(faultRow)),
      part(async () => {
        const { now, clock_offset_ms: aheadMs } = await sandbox.health();
        return { now, aheadMs };
      }),
    ]);
    return { payments, deliveries, faults, clock };
  });

  server.get<{ Params: { id: string } }>('/api/flows/:id', async ({ params }): Promise<PaymentDetails> => {
    const flow = await found(flows, params.id);
    const { paymentId } = flow;
    const [own, actions, deliveries] = await Promise.all([
      ledgerOfFlow(parts, flow),
      paymentId === undefined || flow.type === 'paymentActions'
        ? undefined
        : flows.find(paymentActionsWorkflowId(paymentId)),
      paymentId === undefined ? [] : sandbox.deliveries({ paymentId }),
    ]);
    const explained = [flow, ...(actions === undefined ? [] : [actions])].map(({ workflowId }) =>
      explain(holdfast, workflowId),
    );
    return {
      row: paymentRow(flow, own, actions, linkTo),
      explained: await Promise.all(explained),
      offers: about.off === undefined ? offersOf(flow, own) : [],
      deliveries: newestFirst(deliveries).map(deliveryRow),
    };
  });

  server.post('/api/checkout', async (request) => {
    mayPay();
    return await checkOut(holdfast, body(request, checkoutSchema));
  });

  server.post<{ Params: { id: string } }>('/api/flows/:id/commands', async (request) => {
    mayPay();
    const command = body(request, commandSchema);
    const { workflowId, reference } = await found(flows, request.params.id);
    return { workflowId, ...(await sendCommand(holdfast, reference, command)) };
  });

  server.post<{ Params: { id: string } }>('/api/deliveries/:id/resend', async ({ params }) =>
    deliveryRow(await sandbox.resend(params.id)),
  );

  server.post('/api/faults', async (request) => {
    const { kind, reference } = body(request, faultSchema);
    const fault = FAULT_KINDS[kind]?.fault;
    if (fault === undefined) throw new Refused(400, `There is no fault "${kind}"`);
    return faultRow(
      await sandbox.addFault({ ...fault, ...(reference !== undefined && { reconciliation_id: reference }) }),
    );
  });

  server.delete<{ Params: { id: string } }>('/api/faults/:id', async ({ params }) => {
    await sandbox.removeFault(params.id);
    return {};
  });

  server.post('/api/clock', async (request) => {
    const { hours } = body(request, clockSchema);
    const { now, clock_offset_ms: aheadMs } = await sandbox.advanceClock(hours * HOUR_MS);
    return { now, aheadMs };
  });

  return server;
}

async function listPayments({ flows, sandbox, linkTo }: ConsoleParts): Promise<PaymentRow[]> {
  const [rows, latest] = await Promise.all([flows.list(SHOWN_FLOWS), sandbox.ledgerOf({ latest: LEDGER_PAYMENTS })]);
  const read = new Set(latest.map(({ payment_id: id }) => id));
  const older = new Set(
    rows.flatMap(({ paymentId }) => (paymentId === undefined || read.has(paymentId) ? [] : paymentId)),
  );
  const others = await Promise.all([...older].map((paymentId) => sandbox.ledgerOf({ paymentId })));
  return paymentRows(rows, [...latest, ...others.flat()], linkTo);
}

async function ledgerOfFlow({ sandbox }: ConsoleParts, flow: FlowRow) {
  const { paymentId } = flow;
  const [latest, own] = await Promise.all([
    sandbox.ledgerOf({ latest: LEDGER_PAYMENTS }),
    paymentId === undefined ? [] : sandbox.ledgerOf({ paymentId }),
  ]);
  const others = ledgerOf(flow, latest).filter(({ payment_id: id }) => id !== paymentId);
  return [...own, ...others];
}

async function found(flows: FlowReader, workflowId: string): Promise<FlowRow> {
  const flow = await flows.find(workflowId);
  if (flow === undefined) throw new Refused(404, `There is no flow ${workflowId}`);
  return flow;
}

async function explain(holdfast: Holdfast, workflowId: string): Promise<string> {
  const silent = 'No worker answers for this flow now. It goes on once one does.';
  const asked = holdfast.explain({ workflowId }).catch((error: unknown) => {
    if (error instanceof HoldfastError) return error.message;
    throw error;
  });
  return await Promise.race([asked, sleep(EXPLAIN_MS, silent, { ref: false })]);
}

function newestFirst(deliveries: readonly DeliveryView[]): DeliveryView[] {
  return deliveries.toReversed();
}
