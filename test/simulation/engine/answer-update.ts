import type { Engine } from './engine.js';
import type { Run } from './run.js';
import { type Event, long, type WorkflowCommand } from './shapes.js';
import { tell } from './workflow-tasks.js';

type Response = NonNullable<WorkflowCommand['updateResponse']>;

/** What a flow says to an update: accepted, rejected, completed. */
export function answerUpdate(engine: Engine, run: Run, response: Response, completed: Event['eventId']): void {
  const update = engine.updates.known(run, response.protocolInstanceId ?? '', response.accepted != null);
  if (update === undefined) return;
  const id = update.id;
  if (response.accepted != null) {
    run.updateCount += 1;
    update.acceptedEventId = run.append('EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED', {
      workflowExecutionUpdateAcceptedEventAttributes: {
        protocolInstanceId: id,
        acceptedRequestMessageId: `${id}/request`,
        acceptedRequestSequencingEventId: long(update.admittedEventId ?? Number(completed) - 2),
        // The event of its admission holds it.
        ...(update.admittedEventId === undefined && { acceptedRequest: update.request }),
      },
    });
    tell(update, 'accepted');
  } else if (response.rejected != null) {
    tell(update, 'completed', { failure: response.rejected });
    // A rejected update before acceptance is not remembered.
    if (update.acceptedEventId === undefined) run.updates.delete(id);
    else writeUpdateCompleted(run, id, { failure: response.rejected }, update.acceptedEventId);
  } else if (response.completed != null) {
    const outcome = { success: { payloads: [response.completed] } };
    writeUpdateCompleted(run, id, outcome, update.acceptedEventId ?? 0);
    tell(update, 'completed', outcome);
  }
}

function writeUpdateCompleted(run: Run, updateId: string, outcome: object, acceptedEventId: number): void {
  run.append('EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED', {
    workflowExecutionUpdateCompletedEventAttributes: {
      meta: { updateId },
      acceptedEventId: long(acceptedEventId),
      outcome,
    },
  });
}
