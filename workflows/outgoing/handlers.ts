import { condition, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { OutgoingDay } from '../../src/contract/engine-port.js';
import { countOutgoingSchema } from '../../src/contract/outgoing.js';
import { showMoney } from '../../src/domain/money.js';
import { countOutgoing, type DaySums } from '../../src/domain/outgoing.js';
import { onUpdate, refused } from '../kit/requests.js';
import { countUnknownSignals } from '../kit/run.js';
import { inResetRun } from '../kit/start-guard.js';
import { countOutgoingUpdate, explainQuery } from '../messages.js';

/** What a run of the counter has done, and whether it may count. */
export interface Counting {
  readonly day: DaySums;
  /** Requests of this run. */
  counted: number;
  /** No earlier run has counted this day. Requests wait until that is known. */
  begun: boolean;
  /** An earlier run has: nothing is counted. */
  refusal?: Error;
}

/** Must run before the first await: an update without a handler is rejected. */
export function registerCounting(input: OutgoingDay, counting: Counting): void {
  const { day } = counting;
  const show = (): void => setCurrentDetails(explain(input, day));
  onUpdate(countOutgoingUpdate, countOutgoingSchema, {
    description: 'Counts a credit or refund, if the day has room for it',
    onlySealed: true,
    // Whoever has access to Temporal could take back what was counted.
    validate: () => {
      if (inResetRun()) throw refused('this counter was reset, and may not know of all that it had counted');
    },
    answer: async (request) => {
      counting.counted += 1;
      await condition(() => counting.begun || counting.refusal !== undefined);
      if (counting.refusal !== undefined) throw counting.refusal;
      const answer = countOutgoing(day, request);
      show();
      return answer;
    },
  });
  setHandler(explainQuery, () => explain(input, day), { description: 'What was counted, in a sentence' });
  countUnknownSignals({ ignored: {} });
  show();
}

function explain({ businessUnit, day }: OutgoingDay, { sums, keys }: DaySums): string {
  const money = [...sums].map(([currency, sum]) => showMoney(sum, currency)).join(', ');
  return `Money sent to cards by ${businessUnit} on ${day} (UTC): ${keys.size} credits and refunds, ${money === '' ? 'nothing yet' : money}. Nothing to do.`;
}
