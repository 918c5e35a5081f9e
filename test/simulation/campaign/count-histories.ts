import type { Engine } from '../engine/engine.js';
import { WorkflowExecutionStatus } from '../engine/shapes.js';
import type { Counts } from './counts.js';

/** Flows by type, how their runs ended, and the messages that stand in their histories. */
export function countHistories(engine: Engine, counts: Counts): void {
  const statuses = Object.entries(WorkflowExecutionStatus);
  const flows = new Set<string>();
  for (const run of engine.all()) {
    const { type, workflowId } = run.start;
    const status = statuses.find(([, value]) => value === run.status)?.[0] ?? '';
    // One that was reset, or continued as new, is one flow.
    if (!flows.has(workflowId)) counts.add('flow type', type);
    flows.add(workflowId);
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
