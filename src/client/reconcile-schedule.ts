import { type Connection, isGrpcServiceError, ScheduleAlreadyRunning, ScheduleClient } from '@temporalio/client';
import { BILLING_TASK_QUEUE } from '../contract/names.js';
import { RECONCILE_SCHEDULE, RECONCILIATION_TYPES } from '../contract/reconcile.js';

/** Of each day, UTC: few buyers, and not the full hour at which everybody else's jobs begin. */
const AT = { hour: 3, minute: 17 } as const;
/** As `temporal schedule create` takes them: texts, no numbers. */
const AT_FOR_COMMANDS = JSON.stringify({ hour: String(AT.hour), minute: String(AT.minute) });
const CATCHUP_DAYS = 1;
export const RECONCILES_AT = `daily at 0${AT.hour}:${AT.minute} UTC`;

/** `refused`: what was answered, and the command by which somebody who may can make it. */
export type MadeSchedule = 'made' | 'there' | { refused: string };

/** Makes the schedule of reconciliations. One that is there stays as it is: an operator may have changed or paused it. */
export async function makeReconcileSchedule(connection: Connection, namespace: string): Promise<MadeSchedule> {
  const { id, workflowId } = RECONCILE_SCHEDULE;
  try {
    await new ScheduleClient({ connection, namespace }).create({
      scheduleId: id,
      spec: { calendars: [AT] },
      // Without an input: its defaults are the workers', and nothing is written in clear.
      action: {
        type: 'startWorkflow',
        workflowType: RECONCILIATION_TYPES.reconcile,
        workflowId,
        taskQueue: BILLING_TASK_QUEUE,
        args: [],
      },
      policies: { overlap: 'SKIP', catchupWindow: `${CATCHUP_DAYS} days` },
    });
    return 'made';
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return 'there';
    const cause = error instanceof Error ? error.cause : undefined;
    const refusal = [error, cause].find((each) => isGrpcServiceError(each));
    if (refusal === undefined) throw error;
    const command =
      `temporal schedule create --namespace ${namespace} --schedule-id ${id} --workflow-id ${workflowId} ` +
      `--type ${RECONCILIATION_TYPES.reconcile} --task-queue ${BILLING_TASK_QUEUE} --calendar '${AT_FOR_COMMANDS}' ` +
      `--catchup-window ${CATCHUP_DAYS}d`;
    return { refused: `make the schedule of reconciliations (${refusal.details})\n  ${command}` };
  }
}
