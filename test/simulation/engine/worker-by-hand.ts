import type proto from '@temporalio/proto';
import type { Engine } from './engine.js';
import type { WorkerPort } from './matching.js';
import type { Run, WorkflowTask } from './run.js';
import { type Failure, GRPC, GrpcError, type Payloads, type WorkflowCommand } from './shapes.js';

type ApiCommand = proto.temporal.api.command.v1.ICommand;

interface TakenTask {
  run: Run;
  task: WorkflowTask;
}

type Token = Uint8Array | null | undefined;

/** Workflow tasks that a test takes and answers itself. */
export class WorkerByHand {
  private readonly taken = new Map<string, TakenTask>();

  constructor(private readonly engine: Engine) {}

  /** The next workflow task of the queue. */
  async take(queue: string) {
    const taken = await new Promise<TakenTask>((resolve) =>
      this.engine.matching.join(onceFor(this.engine, queue, resolve)),
    );
    const { workflowId, runId } = taken.run.start;
    const taskToken = Buffer.from(`${runId} ${taken.task.attempt}`);
    this.taken.set(taskToken.toString(), taken);
    return { taskToken, workflowExecution: { workflowId, runId } };
  }

  fail(token: Token, cause: number, failure: Failure): void {
    const { run, task } = this.byToken(token);
    this.engine.tasks.failed(run, task, cause, failure);
  }

  complete(token: Token, commands: readonly ApiCommand[]): void {
    const { run, task } = this.byToken(token);
    this.engine.tasks.completed(run, task, { commands: commands.map(asCommand), flags: [], heartbeat: false });
  }

  private byToken(token: Token): TakenTask {
    const taken = this.taken.get(Buffer.from(token ?? []).toString());
    if (taken === undefined) throw new GrpcError(GRPC.notFound, 'Workflow task not found.');
    return taken;
  }
}

/** A command of the server's interface in the form that the SDK's core has for it. */
function asCommand(command: ApiCommand): WorkflowCommand {
  const { startChildWorkflowExecutionCommandAttributes: child, scheduleActivityTaskCommandAttributes: call } = command;
  if (call) {
    const { activityId, activityType, taskQueue, input, startToCloseTimeout } = call;
    return {
      scheduleActivity: {
        seq: 1,
        activityId: activityId ?? '',
        activityType: activityType?.name ?? '',
        taskQueue: taskQueue?.name ?? '',
        arguments: (input as Payloads | undefined)?.payloads ?? [],
        ...(startToCloseTimeout && { startToCloseTimeout }),
      },
    };
  }
  if (!child) throw new GrpcError(GRPC.invalidArgument, 'only the start of a child and of an activity are known');
  const { workflowId, workflowType, taskQueue, input, parentClosePolicy, workflowIdReusePolicy } = child;
  return {
    startChildWorkflowExecution: {
      seq: 1,
      workflowId: workflowId ?? '',
      workflowType: workflowType?.name ?? '',
      taskQueue: taskQueue?.name ?? '',
      input: (input as Payloads | undefined)?.payloads ?? [],
      parentClosePolicy: parentClosePolicy as number,
      workflowIdReusePolicy: workflowIdReusePolicy ?? 0,
    },
  };
}

/** Takes one workflow task and is gone. */
function onceFor(engine: Engine, queue: string, take: (taken: TakenTask) => void): WorkerPort {
  const port: WorkerPort = {
    identity: 'by hand',
    queues: new Set([queue]),
    isAlive: true,
    hasRoom: (kind) => kind === 'workflow',
    takeActivity() {},
    takeQueries() {},
    takeWorkflowTask(run, task) {
      engine.matching.leave(port);
      take({ run, task });
    },
  };
  return port;
}
