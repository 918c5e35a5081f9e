import { allHandlersFinished, condition, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import {
  type AcknowledgedFinding,
  acknowledgeSchema,
  type Finding,
  findingInputSchema,
  findingWorkflowId,
} from '../src/contract/reconcile.js';
import { onUpdate } from './kit/requests.js';
import { answerQueries, countUnknownSignals } from './kit/run.js';
import { parseStart } from './kit/start-guard.js';
import { publish } from './kit/visibility.js';
import { acknowledgeUpdate } from './messages.js';

/**
 * Keeps a difference that a reconciliation has found until a person acknowledges it, with their name and the reason. The
 * same difference is never kept twice: its workflow id is made of it.
 */
export async function finding(raw: unknown): Promise<AcknowledgedFinding> {
  const found = parseStart({ schema: findingInputSchema, workflowId: findingWorkflowId }, raw);
  let acknowledged: AcknowledgedFinding | undefined;
  answerQueries(
    () => ({
      ...found,
      status: acknowledged === undefined ? 'found' : 'acknowledged',
      needsOperator: acknowledged === undefined,
      ...(acknowledged !== undefined && { acknowledged }),
    }),
    () => explain(found, acknowledged),
  );
  onUpdate(acknowledgeUpdate, acknowledgeSchema, {
    description: 'Closes the finding, with who has looked into it and what was done',
    validate: () => undefined,
    answer: ({ who, why }) => {
      acknowledged ??= {
        status: 'acknowledged',
        finding: found,
        foundAt: workflowInfo().startTime.toISOString(),
        who,
        why,
        at: new Date().toISOString(),
      };
      return Promise.resolve(acknowledged);
    },
  });
  countUnknownSignals({ ignored: {} });
  publish(visible(found, true));
  setCurrentDetails(explain(found, undefined));
  await condition(() => acknowledged !== undefined);
  publish(visible(found, false));
  setCurrentDetails(explain(found, acknowledged));
  await condition(allHandlersFinished);
  return acknowledged as unknown as AcknowledgedFinding;
}

function visible({ businessUnit, paymentId, amount, currency, explanation }: Finding, isOpen: boolean) {
  return {
    status: isOpen ? ('found' as const) : ('acknowledged' as const),
    waitingFor: isOpen ? ('operator' as const) : ('nothing' as const),
    needsOperator: isOpen ? explanation : undefined,
    businessUnit,
    paymentId,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
  };
}

function explain({ kind, explanation }: Finding, acknowledged: AcknowledgedFinding | undefined): string {
  if (acknowledged === undefined)
    return `${kind}: ${explanation} Look into it, then: npx holdfast reconcile ack. Nothing else changes by that.`;
  return `${kind}: ${explanation} Acknowledged by ${acknowledged.who} at ${acknowledged.at}: ${acknowledged.why}`;
}
