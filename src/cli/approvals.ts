import type { WorkflowExecutionDescription } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { HoldfastClient } from '../client/holdfast-client.js';
import { keyword } from '../client/start-options.js';
import { paymentActionsWorkflowId, WORKFLOW_TYPES } from '../contract/names.js';
import type { ApprovalRequest } from './approval-arguments.js';
import type { Engine } from './engine.js';
import { CommandError } from './errors.js';
import { findFlows } from './find-flow.js';
import { asJson, asLines, printable } from './table.js';
import { isOurs } from './visibility-query.js';
import { isOpen } from '../client/is-open.js';

/**
 * Decides on the credit or refund that waits at a flow, or at the commands of its payment. Resolves with the exit code.
 * Without the name of a command it shows what waits and decides nothing, exit code 1: the same words given again, after a
 * lost answer, would decide the next one, which nobody has looked at.
 */
export async function decide(
  engine: Engine,
  request: ApprovalRequest,
  { print }: { print: (text: string) => void },
): Promise<number> {
  const { command, json, commandId, who, why } = request;
  const workflowId = await oursOf(engine, request.reference);
  const flow = { workflowId };
  const holdfast = new HoldfastClient(engine.client);
  const failed = (why: string): never => {
    throw new CommandError(`${printable(workflowId)}: ${why}`);
  };
  const ask = <Answer>(asked: Promise<Answer>): Promise<Answer> =>
    asked.catch((error: unknown) => failed(messageOf(error)));
  if (commandId === undefined) {
    const { approval, operatorReason = '' } = await ask(holdfast.status(flow));
    const waits =
      approval ?? failed('nothing waits for a decision. Look with: npx holdfast list --waiting-for approval');
    if (json) print(asJson({ workflowId, approval: waits, operatorReason }));
    else print(asLines([`${workflowId}: ${operatorReason}.`, sayHow(request, waits.commandId)].map(printable)));
    return 1;
  }
  const decided = await ask(holdfast[command](flow, { commandId, who, why }));
  if (json) print(asJson({ workflowId, ...decided }));
  else
    print(
      asLines([`${printable(workflowId)}: "${printable(commandId)}" ${decided.decision} by ${printable(decided.who)}`]),
    );
  return 0;
}

/**
 * The flow that is asked. A workflow of another application may have a reference for its id, such as that of the order: it
 * must not be told that something was approved.
 */
async function oursOf(engine: Engine, name: string): Promise<string> {
  const found = await findFlows(engine, name);
  const [workflowId, ...others] = new Set(found.filter(isOurs).map(whereItWaits));
  if (workflowId !== undefined && others.length === 0) return workflowId;
  const ids = workflowId === undefined ? found.map((flow) => flow.workflowId) : [workflowId, ...others];
  const named = ids.map(printable).join(', ');
  throw new CommandError(
    workflowId === undefined
      ? `Nothing was decided: ${named} is no flow of Holdfast, but on another task queue.`
      : `Nothing was decided: the name may mean any of ${named}. Give the workflow id.`,
  );
}

function sayHow({ command, reference, who, why }: ApprovalRequest, commandId: string): string {
  const words = ['npx', 'holdfast', command, reference, '--command', commandId, '--who', who, '--why', why];
  return `Nothing was decided. If this is the one: ${words.map(forShell).join(' ')}`;
}

function forShell(word: string): string {
  return /^[\w.:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Refunds of a payment wait at its commands, once the flow that made it has ended. A credit is asked for the answer that was lost. */
function whereItWaits(flow: WorkflowExecutionDescription): string {
  const paymentId = flow.typedSearchAttributes.get(keyword('PaymentId'));
  const isCredit = flow.type === WORKFLOW_TYPES.credit;
  if (isOpen(flow.status) || isCredit || paymentId === undefined) return flow.workflowId;
  return paymentActionsWorkflowId(paymentId);
}
