import {
  allHandlersFinished,
  condition,
  currentUpdateInfo,
  makeContinueAsNewFunc,
  setCurrentDetails,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import {
  BRAKES_MEMO,
  BRAKES_WORKFLOW,
  type Brakes,
  type BrakesAfter,
  brakeSchema,
  givenTo,
  releaseSchema,
} from '../src/contract/brakes.js';
import { isSealed } from '../src/contract/payload-marks.js';
import { brakedAt, brakeOf, brakesIn, sayBrake, withBrake, withoutBrake } from '../src/domain/brakes.js';
import { readableOrRetry } from './kit/decoded-or-retry.js';
import { onUpdate, refused } from './kit/requests.js';
import { answerQueries, countUnknownSignals, isHistoryLong, MOST_UPDATES } from './kit/run.js';
import { invalidInput, isMadeByReset } from './kit/start-guard.js';
import { brakeUpdate, releaseUpdate } from './messages.js';

/**
 * Keeps which business units are braked, by whom and why. Workers read its memo. It never ends by itself: somebody who
 * ends it changes no brake, and the next command starts it again with what its memo says.
 * @param raw the brakes that an earlier run has left
 */
export async function brakes(raw?: unknown): Promise<never> {
  if (workflowInfo().workflowId !== BRAKES_WORKFLOW) throw invalidInput([`workflow id: must be "${BRAKES_WORKFLOW}"`]);
  const left = brakesIn(readableOrRetry(raw, 'the brakes'));
  // Whoever has access to Temporal could end the flow, and begin it again without the brakes.
  if (left === undefined || !isSealed(raw)) throw invalidInput(['brakes: not what an earlier run leaves, encrypted']);
  let kept = left;
  let updates = 0;
  const change = (after: Brakes, businessUnit: string): Promise<BrakesAfter> => {
    const before = brakeOf(kept, businessUnit);
    kept = after;
    updates += 1;
    show(kept);
    return Promise.resolve({ ...kept, ...(before !== undefined && { before }) });
  };
  answerQueries(
    () => kept,
    () => explain(kept),
  );
  const now = (): string => new Date().toISOString();
  onUpdate(brakeUpdate, brakeSchema, {
    description: 'Stops new payments of a business unit, with who and why',
    validate: refuseGivenAgain,
    answer: (request) => change(withBrake(kept, request, now()), request.businessUnit),
  });
  onUpdate(releaseUpdate, releaseSchema, {
    description: 'Lets a business unit go on, with who and why',
    validate: ({ businessUnit, since }) => {
      refuseGivenAgain();
      const brake = brakeOf(kept, businessUnit);
      if (brake === undefined || since === undefined || since === brakedAt(kept, brake)) return;
      throw refused(
        `${sayBrake(brake)}, and was last braked at ${brakedAt(kept, brake)}, not at ${since}: release that one if it is meant`,
      );
    },
    answer: (request) =>
      brakeOf(kept, request.businessUnit) === undefined
        ? Promise.resolve(kept)
        : change(withoutBrake(kept, request, now()), request.businessUnit),
  });
  countUnknownSignals({ ignored: {} });
  show(kept);
  await condition(() => (updates > 0 && isHistoryLong()) || updates >= MOST_UPDATES);
  await condition(allHandlersFinished);
  const next = makeContinueAsNewFunc<(raw: Brakes) => Promise<never>>({
    workflowType: workflowInfo().workflowType,
    memo: { [BRAKES_MEMO]: kept },
  });
  return await next(kept);
}

/**
 * A run that a reset has made is given all brakes and releases again, where they would hold as of then: units that were
 * released long ago were braked again, by the newest change of all. Clients and workers restore what the run before had
 * kept. It takes none but those whose id names it: what is given again has the id that it had in an earlier run. For
 * validators only, which are not asked in a replay.
 */
function refuseGivenAgain(): void {
  const own = givenTo(workflowInfo().runId);
  if (isMadeByReset() && currentUpdateInfo()?.id.startsWith(own) !== true)
    throw refused(
      `a reset has made this run, which takes nothing that the run before was told, and so only update ids that begin with "${own}"; give it again`,
    );
}

function show(kept: Brakes): void {
  upsertMemo({ [BRAKES_MEMO]: kept });
  setCurrentDetails(explain(kept));
}

function explain({ braked }: Brakes): string {
  return braked.length === 0 ? 'No business unit is braked.' : `${braked.map(sayBrake).join('; ')}.`;
}
