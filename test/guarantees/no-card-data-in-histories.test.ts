import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import { type DevServer, startDevServer } from '../../tools/stack/dev-server.js';
import { flowProblems } from '../support/flow-health.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { askUntilFinal } from '../support/ask-charges.js';
import { temporalCliPath } from '../support/temporal.js';
import { isSimulated } from '../support/which-engine.js';

const MARKER = 'MARKED-FOR-SEARCH';
const CUSTOMER = '5d6f7e8a-1b2c-4d3e-9f40-112233445566';
const CLIENT_ADDRESS = '203.0.113.77';

let folder: string | undefined;
let server: DevServer | undefined;
let stack: TestStack;
beforeAll(async () => {
  if (isSimulated()) {
    stack = await startStack({ pendingMs: 300 });
    return;
  }
  folder = mkdtempSync(join(tmpdir(), 'holdfast-private-'));
  server = await startDevServer({ executable: temporalCliPath(), folder, namespaces: ['private'] });
  stack = await startStack({ pendingMs: 300, temporal: { address: server.address, namespace: 'private' } });
});
afterAll(async () => {
  await stack?.close();
  await server?.kill();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/**
 * Everything that the engine has written: of a real server its database, the write-ahead log and its own log, of a
 * simulated one each history, and what a list shows.
 */
async function written(): Promise<string> {
  if (folder !== undefined) {
    const within = folder;
    return readdirSync(within)
      .map((name) => readFileSync(join(within, name), 'latin1'))
      .join('\n');
  }
  const texts: string[] = [];
  const { workflow, options, workflowService } = stack.temporal;
  for await (const { workflowId, runId, raw } of workflow.list()) {
    const execution = { workflowId, runId };
    const { history } = await workflowService.getWorkflowExecutionHistory({ namespace: options.namespace, execution });
    texts.push(bytesOf(proto.temporal.api.history.v1.History.encode(history ?? {}).finish()));
    texts.push(bytesOf(proto.temporal.api.workflow.v1.WorkflowExecutionInfo.encode(raw).finish()));
  }
  return texts.join('\n');
}

function bytesOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** Which of the texts can be found. */
function found(texts: readonly string[], within: string): string[] {
  return texts.filter((text) => within.includes(text));
}

describe('what charges leave behind in the database of the engine', () => {
  test('is no token, no CVV, no personal field, no card number and no failure message, in no ending', async () => {
    const personal = {
      statementSoftDescriptor: MARKER,
      customerId: CUSTOMER,
      clientIpAddress: CLIENT_ADDRESS,
      order: { lineItems: [{ name: `${MARKER} tea`, quantity: 1, unitPrice: 1095 }] },
    };
    const secrets = [MARKER, CUSTOMER, CLIENT_ADDRESS, ...Object.values(CARDS)];
    const references: string[] = [];
    for (const card of Object.values(CARDS)) {
      const cvv = '737';
      const { token, encryptedCvv } = await stack.sandbox.tokenize({ cardNumber: card, cvv });
      const paymentMethod = { type: 'tokenized', token, ...(encryptedCvv && { encryptedCvv }) } as const;
      const input = { ...(await chargeInput(stack.sandbox, card, personal)), paymentMethod };
      const asked = await askUntilFinal(stack.holdfast, input, 20_000);
      expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
      secrets.push(token, encryptedCvv ?? '');
      references.push(input.reference);
    }
    const text = await written();
    // Else the search is in the wrong place.
    expect(found(references, text)).toEqual(references);
    expect(found(secrets, text)).toEqual([]);
    expect(found(secrets, stack.worker().logs())).toEqual([]);
  });

  test('is no message of a failure: neither of a refusal by the service, nor of input that was refused', async () => {
    const input = await chargeInput(stack.sandbox);
    const fault = { action: 'status', method: 'POST', path: '*/charges', status: 400, times: 1 } as const;
    await stack.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
    // An event that comes before the first task has ended has it run again, and then nothing is refused any more.
    await stack.sandbox.addFault({ action: 'lose_event', reconciliation_id: input.reference });
    const refused = await stack.holdfast.charge(input).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('the service answered 400'),
    });

    const reference = newReference();
    const raw = await stack.temporal.workflow.start('charge', {
      taskQueue: 'holdfast',
      workflowId: `payment-${reference}`,
      args: [{ ...input, reference, [`${MARKER}-field`]: 1 }],
    });
    await expect(raw.result()).rejects.toMatchObject({
      cause: { type: 'InvalidInput', message: expect.stringContaining(`${MARKER}-field: unknown field`) },
    });
    const text = await written();
    expect(found([input.reference, reference], text)).toEqual([input.reference, reference]);
    expect(found(['the service answered', 'unknown field', MARKER], text)).toEqual([]);
  });
});

describe('a card number', () => {
  test('in whatever free text or unknown field of the input starts nothing', async () => {
    const number = CARDS.succeeds;
    const input = await chargeInput(stack.sandbox);
    const inputs: object[] = [
      { ...input, cardNumber: number },
      { ...input, paymentMethod: { ...input.paymentMethod, cardNumber: number, cvv: '737' } },
      { ...input, billingAddress: { line1: `PAN ${number}` } },
      { ...input, shippingAddress: { firstName: number.replace(/(\d{4})(?=\d)/g, '$1 ') } },
      { ...input, order: { lineItems: [{ name: number.replace(/(\d{4})(?=\d)/g, '$1-') }] } },
    ];
    for (const wrong of inputs) {
      const error: unknown = await stack.holdfast.charge(wrong as typeof input).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ type: 'InvalidInput', message: expect.not.stringContaining(number) });
    }
    expect(found([input.reference, number], await written())).toEqual([]);
  });

  test('in the result of a flow that another SDK started in clear is never written by us', async () => {
    const input = await chargeInput(stack.sandbox);
    const plain = new Client({ connection: stack.temporal.connection, namespace: stack.namespace });
    const { workflowId } = await plain.workflow.start('charge', {
      taskQueue: 'holdfast',
      workflowId: `payment-${input.reference}`,
      args: [input],
    });
    await stack.temporal.workflow.getHandle(workflowId).result();
    const transactionId = (await stack.sandbox.ledger(input.reference))[0]?.transaction_id ?? '';
    // The token was written by the other SDK; what we answered was not written in clear.
    const text = await written();
    expect(found([(input.paymentMethod as { token: string }).token], text)).toHaveLength(1);
    expect(found([transactionId], text)).toEqual([]);
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
