import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { MEMO_KEYS } from '../../src/contract/names.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { GOLDEN_ENCRYPTION_KEYS } from '../replay/golden-key.js';

export const dataConverter = createDataConverter(parseKeyRing(GOLDEN_ENCRYPTION_KEYS));
export const ID = 'payment-order-1001';

/** A run as the engine remembers it. */
export interface Run {
  runId: string;
  status?: string;
  result?: unknown;
  history?: History;
  /** Both are the run's own id unless told. */
  original?: string;
  first?: string;
  /** The run that it was made from by a reset. */
  base?: string;
  /** The run that it continues. */
  continues?: string;
  description?: object;
  /** The run that our client knew of when it opened this one. */
  takesOver?: string;
  /** Visibility does not show it yet. */
  unlisted?: true;
  /** Visibility alone still knows it. */
  gone?: true;
}

/** An engine that remembers these runs of one workflow, newest first. Anything else that is asked of it throws. */
export function engineWith(runs: readonly Run[], converter = dataConverter, id = ID): Client {
  const runOf = (workflowId: string, runId?: string): Run => {
    const run = runs.find((each) => runId === undefined || each.runId === runId);
    if (workflowId !== id) throw new Error(`nobody knows ${workflowId}`);
    if (run === undefined || run.gone === true) throw new WorkflowNotFoundError('not found', workflowId, runId);
    return run;
  };
  const execution = (request: { execution: { workflowId: string; runId: string } }): Run =>
    runOf(request.execution.workflowId, request.execution.runId);
  const client = {
    options: { namespace: 'default', loadedDataConverter: loadDataConverter(converter) },
    workflow: {
      async *list({ query }: { query: string }) {
        if (query !== `WorkflowId = "${id}"`) throw new Error(query);
        yield* runs.filter(({ unlisted }) => unlisted !== true);
      },
      getHandle: (workflowId: string, runId: string) => ({
        async describe() {
          const run = runOf(workflowId, runId);
          const memo = run.takesOver === undefined ? {} : { [MEMO_KEYS.takesOver]: run.takesOver };
          const typedSearchAttributes = new TypedSearchAttributes();
          return { runId: run.runId, status: { name: run.status }, memo, typedSearchAttributes };
        },
        result: async () => runOf(workflowId, runId).result,
      }),
    },
    workflowService: {
      /** A golden history is read in pages of ten events. */
      getWorkflowExecutionHistory: async (
        request: Parameters<typeof execution>[0] & { nextPageToken?: Uint8Array },
      ) => {
        const { runId, original = runId, first = runId, base, continues, history } = execution(request);
        const started = {
          originalExecutionRunId: original,
          firstExecutionRunId: first,
          continuedExecutionRunId: continues,
        };
        const events = history?.events ?? [
          { workflowExecutionStartedEventAttributes: started },
          ...(base === undefined ? [] : [{ workflowTaskFailedEventAttributes: { newRunId: runId, baseRunId: base } }]),
        ];
        const from = Number(Buffer.from(request.nextPageToken ?? []).toString() || 0);
        const more = from + 10 < events.length ? Buffer.from(String(from + 10)) : new Uint8Array();
        return { history: { events: events.slice(from, from + 10) }, nextPageToken: more };
      },
      describeWorkflowExecution: async (request: Parameters<typeof execution>[0]) => execution(request).description,
    },
  };
  return client as unknown as Client;
}
