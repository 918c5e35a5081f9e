import type { Engine } from '../engine/engine.js';
import { WorkflowExecutionStatus } from '../engine/shapes.js';
import type { Counts } from './counts.js';

/** Flow types, how their runs ended, and the messages that stand in their histories. */
export function countHistories(engine: Engine, counts: Counts): void {
  const statuses = Object.entries(WorkflowExecutionStatus);
  for (const run of engine.all()) {
    const { type } = run.start;
    const status = statuses.find(([, value]) => value === run.status)?.[0] ?? '';
    counts.add('flow type', type);
    counts.add('run', `${type} ${status.replace('WORKFLOW_EXECUTION_STATUS_', '').toLowerCase()}`);
    for (const event of run.events) {
      const signal = event.workflowExecutionSignaledEventAttributes;
      if (signal) counts.add('message', `signal ${signal.signalName}`);
      const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
      if (update) counts.add('message', `update ${update.name}`);
      if (event.workflowExecutionCancelRequestedEventAttributes) counts.add('message', 'cancel');
    }
  }
}
