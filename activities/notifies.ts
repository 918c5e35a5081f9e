import { ApplicationFailure } from '@temporalio/common';
import type { FailureDetails } from '../src/contract/names.js';
import type { ActivityTable } from './build-activities.js';
import type { ActivityDeps } from './read-call.js';

/** Reports to a flow that its business unit has endpoints: one without tells nobody, and it costs nothing. */
export function notifiesOf({ notifications }: ActivityDeps, businessUnit: string | undefined): { notifies?: true } {
  const { endpoints = [] } = notifications?.units.get(businessUnit ?? '') ?? {};
  return endpoints.length > 0 ? { notifies: true } : {};
}

/** Activities whose failures report the same: a flow may end by the first of them. */
export function tellingFailures<Activities>(
  table: ActivityTable<ActivityDeps, Activities>,
): ActivityTable<ActivityDeps, Activities> {
  const rows = Object.entries(table) as [string, (deps: ActivityDeps, ...call: unknown[]) => Promise<unknown>][];
  const telling = rows.map(([name, run]) => [
    name,
    async (deps: ActivityDeps, ...call: unknown[]) => {
      try {
        return await run(deps, ...call);
      } catch (error) {
        const [argument] = call as { businessUnit?: string }[];
        const { notifies } = notifiesOf(deps, argument?.businessUnit);
        const details =
          error instanceof ApplicationFailure ? (error.details?.[0] as FailureDetails | undefined) : undefined;
        if (notifies === true && typeof details === 'object') details.notifies = true;
        throw error;
      }
    },
  ]);
  return Object.fromEntries(telling) as ActivityTable<ActivityDeps, Activities>;
}
