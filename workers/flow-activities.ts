import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { z } from 'zod';
import { requireFlow } from '../activities/build-activities.js';
import { joinFlow } from '../src/client/ask-flow.js';
import { Deadlines } from '../src/client/deadlines.js';
import { HoldfastError } from '../src/client/errors.js';
import { checkInput, makeRequest } from '../src/client/start-options.js';
import type { ChildFlow, FlowActivities } from '../src/contract/child-flows.js';
import { FLOWS, type RepeatableFlow } from '../src/contract/flows.js';
import { ASK_FLOW_ACTIVITY } from '../src/contract/names.js';
import { isUndecodable, whyUndecodable } from '../src/contract/payload-marks.js';

const WAIT_MS = 25_000;
/** What a flow answers before it has ended. */
const NOT_FINAL: ReadonlySet<string> = new Set(['authorized', 'pending', 'underReview', 'unknown']);

/** The activities by which a merchant's workflow joins a flow that it has not started itself. They start none. */
export function flowActivities(client: Client): FlowActivities {
  const deadlines = new Deadlines(client);
  return {
    async [ASK_FLOW_ACTIVITY](flow, input) {
      requireFlow();
      requireDecoded(flow);
      requireDecoded(input);
      const row = FLOWS[flow] as RepeatableFlow<ChildFlow, z.ZodType<object>>;
      try {
        const request = makeRequest(row, checkInput(row.schema, input));
        const outcome = await joinFlow(client, deadlines, request, Date.now() + WAIT_MS);
        return { outcome, final: !NOT_FINAL.has(outcome.status) };
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
        throw ApplicationFailure.create({ message: error.message, type: error.type, details: [error.faults] });
      }
    },
  };
}

/** Fails, and is tried again, without the key: only a worker that has it may say that the input is wrong. */
function requireDecoded(argument: unknown): void {
  if (isUndecodable(argument))
    throw new Error(`This worker can't decode the question (${whyUndecodable(argument)}); give it the missing key`);
}
