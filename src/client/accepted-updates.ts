import type { WorkflowHandle } from '@temporalio/client';
import type { Payload } from '@temporalio/common';

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];
type Request = NonNullable<
  NonNullable<Event['workflowExecutionUpdateAcceptedEventAttributes']>['acceptedRequest']
>['input'];

/** An update that a run has accepted. */
interface AcceptedUpdate {
  /** `?` where no event has it. */
  name: string;
  updateId: string | undefined;
  argument: Payload | undefined;
}

/** The updates of one run. What a reset has given again has its name and request in an event of its own, before it is accepted. */
export class AcceptedUpdates {
  readonly #admitted = new Map<string, Request>();

  /** Must be told every event of the run, in their order. undefined: this one accepts no update. */
  acceptedBy(event: Event): AcceptedUpdate | undefined {
    const again = event.workflowExecutionUpdateAdmittedEventAttributes?.request;
    if (again?.input) this.#admitted.set(again.meta?.updateId ?? '', again.input);
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    if (!accepted) return undefined;
    const input = accepted.acceptedRequest?.input ?? this.#admitted.get(accepted.protocolInstanceId ?? '');
    return {
      name: input?.name ?? '?',
      updateId: accepted.protocolInstanceId ?? undefined,
      argument: input?.args?.payloads?.[0],
    };
  }
}
