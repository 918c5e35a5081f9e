import { randomUUID } from 'node:crypto';
import type { Engine } from './engine.js';
import type { Run, Start } from './run.js';
import { long, WorkflowIdReusePolicy } from './shapes.js';

type ChildStart = Pick<Start, 'workflowId' | 'type' | 'taskQueue' | 'input' | 'memo' | 'searchAttributes' | 'metadata'>;

/** Who ends the run that a reset replaces (server, `consts.IdentityResetter`). */
export const RESETTER = 'history-resetter';

/** Flows started by flows. A child outlives its parent here: every parent of ours abandons them. */
export class Children {
  constructor(private readonly engine: Engine) {}

  initiate(parent: Run, initiatedEventId: number, reusePolicy: number, start: ChildStart): void {
    parent.children.set(initiatedEventId, { initiatedEventId, workflowId: start.workflowId });
    setTimeout(() => this.start(parent, initiatedEventId, reusePolicy, start), this.engine.latency('child'));
  }

  /**
   * A reset run has been given the order of a child and no news of it. The server looks for a child of the runs before
   * (`verifyChildWorkflow`), joins it if there is one, and starts it if not.
   */
  initiateAfterReset(parent: Run, initiatedEventId: number, reusePolicy: number, start: ChildStart): void {
    setTimeout(() => {
      const child = this.engine.find(start.workflowId);
      if (!parent.isOpen || child?.start.parent?.run.start.originalRunId !== parent.start.originalRunId) {
        this.start(parent, initiatedEventId, reusePolicy, start);
        return;
      }
      this.started(parent, initiatedEventId, child);
      this.handOver(child, { run: parent, initiatedEventId });
    }, this.engine.latency('child'));
  }

  handOver(child: Run, parent: NonNullable<Start['parent']>): void {
    child.start.parent = parent;
    if (!child.isOpen) this.closed(child);
  }

  /**
   * The parent is told how its child has ended, if it still runs: not of a run that a reset has replaced, whose successor
   * tells it later (`processCloseExecution`).
   */
  closed(child: Run): void {
    const { parent } = child.start;
    if (parent === undefined || child.continuedTo !== undefined || isReplacedByReset(child)) return;
    setTimeout(() => this.tellParent(child, parent), this.engine.latency('child'));
  }

  private tellParent(child: Run, { run: parent, initiatedEventId }: NonNullable<Start['parent']>): void {
    const pending = parent.children.get(initiatedEventId);
    if (pending === undefined || !parent.isOpen) return;
    parent.children.delete(initiatedEventId);
    const last = child.events.at(-1);
    this.engine.tasks.record(parent, () => {
      const common = {
        initiatedEventId: long(initiatedEventId),
        startedEventId: long(pending.startedEventId ?? 0),
        namespace: this.engine.namespace,
        workflowExecution: { workflowId: child.start.workflowId, runId: child.start.runId },
        workflowType: { name: child.start.type },
      };
      if (last?.workflowExecutionCompletedEventAttributes) {
        const { result } = last.workflowExecutionCompletedEventAttributes;
        parent.append('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED', {
          childWorkflowExecutionCompletedEventAttributes: { ...common, ...(result && { result }) },
        });
      } else if (last?.workflowExecutionFailedEventAttributes) {
        const { failure, retryState } = last.workflowExecutionFailedEventAttributes;
        parent.append('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED', {
          childWorkflowExecutionFailedEventAttributes: {
            ...common,
            failure: failure ?? null,
            retryState: retryState ?? 0,
          },
        });
      } else if (last?.workflowExecutionCanceledEventAttributes) {
        parent.append('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED', {
          childWorkflowExecutionCanceledEventAttributes: common,
        });
      } else {
        parent.append('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED', {
          childWorkflowExecutionTerminatedEventAttributes: common,
        });
      }
    });
  }

  private start(parent: Run, initiatedEventId: number, reusePolicy: number, start: ChildStart): void {
    if (!parent.isOpen) return;
    const common = {
      namespace: this.engine.namespace,
      initiatedEventId: long(initiatedEventId),
      workflowType: { name: start.type },
    };
    if (
      this.engine.isTaken(
        start.workflowId,
        reusePolicy || WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
      )
    ) {
      parent.children.delete(initiatedEventId);
      this.engine.tasks.record(parent, () =>
        parent.append('EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED', {
          startChildWorkflowExecutionFailedEventAttributes: { ...common, workflowId: start.workflowId, cause: 1 },
        }),
      );
      return;
    }
    const runId = randomUUID();
    const child = this.engine.begin({
      ...start,
      runId,
      firstRunId: runId,
      originalRunId: runId,
      parent: { run: parent, initiatedEventId },
    });
    this.started(parent, initiatedEventId, child);
  }

  private started(parent: Run, initiatedEventId: number, child: Run): void {
    const { workflowId, type, runId } = child.start;
    this.engine.tasks.record(parent, () => {
      const startedEventId = parent.append('EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED', {
        childWorkflowExecutionStartedEventAttributes: {
          namespace: this.engine.namespace,
          initiatedEventId: long(initiatedEventId),
          workflowType: { name: type },
          workflowExecution: { workflowId, runId },
        },
      });
      const pending = parent.children.get(initiatedEventId);
      if (pending !== undefined) Object.assign(pending, { startedEventId, runId });
    });
  }
}

function isReplacedByReset(run: Run): boolean {
  return run.events.at(-1)?.workflowExecutionTerminatedEventAttributes?.identity === RESETTER;
}
