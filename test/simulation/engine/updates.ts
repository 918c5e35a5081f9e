import type { Engine } from './engine.js';
import { refuseTooManyUpdates } from './limits.js';
import type { Run, Update } from './run.js';
import { GRPC, GrpcError, type UpdateRequest, UpdateStage } from './shapes.js';

/** After so many failed tasks in a row an update is refused at once. */
const NOT_READY_AFTER = 3;

/** Updates from the call to the flow's answer. What no flow has accepted lives in memory alone. */
export class Updates {
  constructor(private readonly engine: Engine) {}

  /** The update of that id, new or known. */
  admit(run: Run, request: UpdateRequest): Update {
    const id = request.meta?.updateId ?? '';
    const known = run.updates.get(id);
    if (known !== undefined) return known;
    if (!run.isOpen) throw new GrpcError(GRPC.notFound, 'workflow execution already completed');
    if (run.attempt > NOT_READY_AFTER)
      throw new GrpcError(
        GRPC.failedPrecondition,
        'Unable to perform workflow execution update due to unexpected workflow task failure.',
      );
    refuseTooManyUpdates(run);
    const update: Update = { id, request, state: 'admitted', waiters: new Set() };
    run.updates.set(id, update);
    this.engine.tasks.need(run, true);
    return update;
  }

  /** Resolves when the update is accepted (or completed, if that is wanted), or after a long poll's time. */
  async waitFor(run: Run, update: Update, wanted: number): Promise<object> {
    const isReached = (): boolean =>
      update.state === 'completed' ||
      (wanted < UpdateStage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED && update.state === 'accepted');
    if (!isReached()) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => end(), this.engine.longPollMs);
        const end = (refused?: Error): void => {
          if (refused === undefined && !isReached() && !timedOut()) return;
          clearTimeout(timer);
          update.waiters.delete(end);
          if (refused === undefined) resolve();
          else reject(refused);
        };
        const startedAt = Date.now();
        const timedOut = (): boolean => Date.now() >= startedAt + this.engine.longPollMs;
        update.waiters.add(end);
      });
    }
    return {
      updateRef: {
        workflowExecution: { workflowId: run.start.workflowId, runId: run.start.runId },
        updateId: update.id,
      },
      stage: stageOf(update),
      ...(update.outcome !== undefined && { outcome: update.outcome }),
    };
  }

  runClosed(run: Run): void {
    for (const update of run.updates.values()) {
      if (update.state === 'completed') continue;
      if (update.state === 'accepted') {
        update.outcome = {
          failure: {
            message: 'Workflow Update failed because the Workflow completed before the Update completed.',
            source: 'Server',
            applicationFailureInfo: { type: 'AcceptedUpdateCompletedWorkflow', nonRetryable: true },
          },
        };
        update.state = 'completed';
        for (const waiter of [...update.waiters]) waiter();
        continue;
      }
      run.updates.delete(update.id);
      const refusal =
        run.continuedTo === undefined
          ? new GrpcError(GRPC.notFound, 'workflow execution already completed')
          : new GrpcError(GRPC.unavailable, 'workflow operation can not be applied because workflow is closing');
      for (const waiter of [...update.waiters]) waiter(refusal);
    }
  }

  /** One that the engine has forgotten lives again when the flow accepts it: the acceptance brings the request. */
  known(run: Run, id: string, isAccepted: boolean): Update | undefined {
    const update = run.updates.get(id);
    const brought = run.brought.get(id);
    if (update !== undefined || brought === undefined || !isAccepted) return update;
    const again: Update = { id, request: brought, state: 'sent', waiters: new Set() };
    run.updates.set(id, again);
    return again;
  }

  forgetAdmitted(run: Run): void {
    const gone = new GrpcError(GRPC.unavailable, 'the engine is gone');
    for (const update of run.updates.values()) {
      if (update.state === 'admitted' || update.state === 'sent') run.updates.delete(update.id);
      for (const waiter of [...update.waiters]) waiter(gone);
    }
  }
}

function stageOf(update: Update): number {
  switch (update.state) {
    case 'completed':
      return UpdateStage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED;
    case 'accepted':
      return UpdateStage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ACCEPTED;
    default:
      return UpdateStage.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_ADMITTED;
  }
}
