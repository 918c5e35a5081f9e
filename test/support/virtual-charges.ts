import type { Client } from '@temporalio/client';
import type { HoldfastClient } from '../../src/client/holdfast-client.js';
import { startAttributes, startMemo } from '../../src/client/start-options.js';
import type { ChargeInput, FinalChargeOutcome } from '../../src/contract/charge.js';
import { FLOWS } from '../../src/contract/flows.js';
import type { FlowStatus } from '../../src/contract/messages.js';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId, WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { SandboxControl } from '../../sandbox/control.js';
import { CARDS, chargeInput } from './charges.js';

/** A charge under way. */
export interface StartedCharge {
  readonly input: ChargeInput;
  readonly workflowId: string;
  /** Epoch ms on the engine's clock. */
  readonly startedAt: number;
  /** Lets time pass until the flow has ended. */
  outcome(): Promise<FinalChargeOutcome>;
  /** Where it stands now. No time passes. */
  status(): Promise<FlowStatus>;
}

/** Input with a token, and a CVV where asked for, made now. */
export async function tokenizedInput(
  sandbox: SandboxControl,
  { card = CARDS.succeeds, cvv }: { card?: string; cvv?: string } = {},
): Promise<ChargeInput> {
  if (cvv === undefined) return await chargeInput(sandbox, card);
  const { token, encryptedCvv = '' } = await sandbox.tokenize({ cardNumber: card, cvv });
  return await chargeInput(sandbox, card, { paymentMethod: { type: 'tokenized', token, encryptedCvv } });
}

interface Engine {
  readonly client: Client;
  readonly holdfast: HoldfastClient;
  now: () => Promise<number>;
}

/** Starts a charge as our client does, or as other programs do: without memo and search attributes. */
export async function startCharge(
  { client, holdfast, now }: Engine,
  input: ChargeInput,
  how: 'client' | 'raw' = 'client',
): Promise<StartedCharge> {
  const parsed = FLOWS.charge.schema.parse(input);
  const workflowId = paymentWorkflowId(input.reference);
  const startedAt = await now();
  const handle = await client.workflow.start(WORKFLOW_TYPES.charge, {
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowId,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [parsed],
    ...(how === 'client' && {
      memo: startMemo(FLOWS.charge.fingerprint(parsed)),
      typedSearchAttributes: startAttributes(parsed),
    }),
  });
  return {
    input,
    workflowId,
    startedAt,
    outcome: async () => (await handle.result()) as FinalChargeOutcome,
    status: () => holdfast.status(input.reference),
  };
}
