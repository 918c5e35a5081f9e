import { randomUUID } from 'node:crypto';
import type { Engine } from './engine.js';
import type { Run } from './run.js';

/** The run that follows one with a cron schedule, whose first task comes at the schedule's next time. */
export interface NextOfCron {
  runId: string;
  begin: () => void;
}

/** Undefined for a run without a schedule. Only `@every 1s` and the like are known. */
export function nextOfCron(engine: Engine, run: Run): NextOfCron | undefined {
  const { cron } = run.start;
  if (cron === undefined) return undefined;
  const [, seconds] = /^@every (\d+)s$/.exec(cron) ?? [];
  if (seconds === undefined) throw new Error(`the simulated engine does not know the schedule ${cron}`);
  const runId = randomUUID();
  const ms = Number(seconds) * 1_000;
  const waitMs = ms - ((Date.now() - run.startedAt) % ms);
  const { start } = run;
  return {
    runId,
    begin: () =>
      engine.begin(
        { ...start, runId, originalRunId: runId, requestId: undefined, continuedFrom: start.runId },
        { firstTaskAfterMs: waitMs },
      ),
  };
}
