import { isSpanContextValid, ROOT_CONTEXT, SpanKind, trace, type SpanContext } from '@opentelemetry/api';
import type { InjectedSinks } from '@temporalio/worker';
import type { EventSinks } from '../src/contract/event-sinks.js';

/** Ends an event's trace with a span of the workflow that handled it, a child of the webhook handler's span. */
export const eventSpans: InjectedSinks<EventSinks> = {
  events: {
    received: {
      fn({ workflowId, runId, workflowType }, { hash, eventType, traceparent }) {
        const parent = spanContextOf(traceparent);
        if (parent === undefined) return;
        const attributes = {
          'holdfast.event_type': eventType,
          'holdfast.event_hash': hash,
          temporalWorkflowID: workflowId,
          temporalRunID: runId,
        };
        trace
          .getTracer('holdfast-worker')
          .startSpan(
            `event in ${workflowType}`,
            { kind: SpanKind.CONSUMER, attributes },
            trace.setSpanContext(ROOT_CONTEXT, parent),
          )
          .end();
      },
      // A replay handles the event again, which must not add a span.
      callDuringReplay: false,
    },
  },
};

function spanContextOf(traceparent = ''): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = '0'] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? [];
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(parent) ? parent : undefined;
}
