import type { WorkflowExecutionDescription } from '@temporalio/client';
import { HoldfastClient } from '../client/holdfast-client.js';
import { keyword } from '../client/start-options.js';
import { paymentActionsWorkflowId } from '../contract/names.js';
import type { ApprovalRequest } from './approval-arguments.js';
import type { Engine } from './engine.js';
import { CommandError, messageOf } from './errors.js';
import { findFlow } from './find-flow.js';
import { asJson, asLines, printable } from './table.js';
import { isOpen } from '../client/is-open.js';

/** Decides on the credit or refund that waits at a flow, or at the commands of its payment. */
export async function decide(
  engine: Engine,
  { command, json, reference, commandId, who, why }: ApprovalRequest,
  { print }: { print: (text: string) => void },
): Promise<number> {
  const workflowId = whereItWaits((await findFlow(engine, reference)).flow);
  const flow = { workflowId };
  const holdfast = new HoldfastClient(engine.client);
  const failed = (why: string): never => {
    throw new CommandError(`${printable(workflowId)}: ${why}`);
  };
  const ask = <Answer>(asked: Promise<Answer>): Promise<Answer> =>
    asked.catch((error: unknown) => failed(messageOf(error)));
  const waiting = commandId ?? (await ask(holdfast.status(flow))).approval?.commandId;
  const asked = waiting ?? failed('nothing waits for a decision. Look with: npx holdfast list --waiting-for approval');
  const decided = await ask(holdfast[command](flow, { commandId: asked, who, why }));
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
  if (isOpen(flow.status) || paymentId === undefined) return flow.workflowId;
  return paymentActionsWorkflowId(paymentId);
}
