import type { Client } from '@temporalio/client';

/** What the time-skipping test server says in words of its own, and what a real one says. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Execution not found/, 'workflow not found for ID'],
  [/^Completed workflow/, 'workflow execution already completed'],
];

/** The client as it would be over a real server, as far as signals are concerned that reach nobody. */
export function withRealAnswers(client: Client): Client {
  const { workflowService } = client;
  type Signal = typeof workflowService.signalWorkflowExecution;
  const signal = async (request: Parameters<Signal>[0]) => {
    try {
      return await workflowService.signalWorkflowExecution(request);
    } catch (error) {
      const failure = error as { details?: string };
      const [, real] = WORDS.find(([words]) => words.test(failure.details ?? '')) ?? [];
      if (real !== undefined) failure.details = real;
      throw error;
    }
  };
  const service = Object.create(workflowService, {
    signalWorkflowExecution: { value: signal },
  }) as typeof workflowService;
  return Object.create(client, { workflowService: { value: service } }) as Client;
}
