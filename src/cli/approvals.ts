import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { Approval, Approved, FlowStatus } from '../contract/messages.js';
import { paymentActionsWorkflowId, QUERY_NAMES, UPDATE_NAMES } from '../contract/names.js';
import { keyword } from '../client/start-options.js';
import type { ApprovalRequest } from './approval-arguments.js';
import type { Engine } from './engine.js';
import { CommandError, messageOf } from './errors.js';
import { askFlow, findFlow } from './find-flow.js';
import { asJson, asLines, printable } from './table.js';

const UPDATE_MS = 20_000;

/** Decides on the credit or refund that waits at a flow, or at the commands of its payment. */
export async function decide(
  engine: Engine,
  { command, json, reference, commandId, who, why }: ApprovalRequest,
  { print }: { print: (text: string) => void },
): Promise<number> {
  const { client } = engine;
  const workflowId = whereItWaits((await findFlow(engine, reference)).flow);
  const asked = commandId ?? (await waitingAt(client, workflowId));
  const args: [Approval] = [{ commandId: asked, who, why }];
  const handle = client.workflow.getHandle(workflowId);
  const decided = await client
    .withDeadline(Date.now() + UPDATE_MS, () =>
      handle.executeUpdate<Approved, [Approval]>(UPDATE_NAMES[command], { args }),
    )
    .catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new CommandError(`${printable(workflowId)}: ${messageOf(cause)}`);
    });
  if (json) print(asJson({ workflowId, ...decided }));
  else
    print(
      asLines([`${printable(workflowId)}: "${printable(asked)}" ${decided.decision} by ${printable(decided.who)}`]),
    );
  return 0;
}

/** Refunds of a payment wait at its commands, once the flow that made it has ended. */
function whereItWaits(flow: WorkflowExecutionDescription): string {
  const paymentId = flow.typedSearchAttributes.get(keyword('PaymentId'));
  if (flow.status.name === 'RUNNING' || paymentId === undefined) return flow.workflowId;
  return paymentActionsWorkflowId(paymentId);
}

async function waitingAt(client: Client, workflowId: string): Promise<string> {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  const said = await askFlow<FlowStatus>(client, { workflowId, runId }, QUERY_NAMES.status, UPDATE_MS);
  if ('silence' in said) throw new CommandError(`${printable(workflowId)}: ${said.silence}`);
  const { approval } = said.answer;
  if (approval !== undefined) return approval.commandId;
  throw new CommandError(
    `${printable(workflowId)}: nothing waits for a decision. Look with: npx holdfast list --waiting-for approval`,
  );
}
