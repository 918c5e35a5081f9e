import { context, propagation, SpanKind, SpanStatusCode, trace, type Context, type Span } from '@opentelemetry/api';
import type { WebhookRequest } from './read-request.js';
import type { ProvenEvent } from './transaction-event.js';

/** Attributes that the span gets when the event has been processed. */
export interface TracedEnd {
  result: string;
  workflowId?: string;
  reason?: string;
}

/**
 * Runs `take` in a span of the event, which continues the request's trace if there is one. The event gets the span as
 * `traceparent`, so that the workflow's span is its child. Without an OpenTelemetry SDK in the process, nothing is
 * recorded and no `traceparent` is set.
 * Attributes are ids and types only, as in the log.
 */
export async function traced<T extends TracedEnd>(
  proven: ProvenEvent,
  headers: WebhookRequest['headers'],
  take: (proven: ProvenEvent) => Promise<T>,
): Promise<T> {
  const { event, eventType, version, unit } = proven;
  const attributes = {
    'holdfast.event_type': eventType,
    'holdfast.webhook_version': version,
    'holdfast.business_unit': unit,
    ...(event !== undefined && { 'holdfast.event_hash': event.hash, 'holdfast.payment_id': event.paymentId }),
  };
  // The span name must not contain the event type: a sender could create unlimited names.
  const span = trace
    .getTracer('holdfast-webhook')
    .startSpan('webhook event', { kind: SpanKind.CONSUMER, attributes }, parentOf(headers));
  try {
    const inSpan = trace.setSpan(context.active(), span);
    const taken = await context.with(inSpan, () => take(carrying(span, proven)));
    span.setAttribute('holdfast.result', taken.result);
    if (taken.workflowId !== undefined) span.setAttribute('holdfast.workflow_id', taken.workflowId);
    if (taken.reason !== undefined) span.setAttribute('holdfast.reason', taken.reason);
    if (taken.result === 'unavailable') span.setStatus({ code: SpanStatusCode.ERROR, message: taken.result });
    return taken;
  } finally {
    span.end();
  }
}

/** The span of an instrumented server, or the one in the request's headers. */
function parentOf(headers: WebhookRequest['headers']): Context {
  const active = context.active();
  return trace.getSpan(active) === undefined ? propagation.extract(active, headers) : active;
}

/** The event with the span's `traceparent` as in W3C Trace Context, version 00. */
function carrying(span: Span, proven: ProvenEvent): ProvenEvent {
  const { event } = proven;
  if (event === undefined || !span.isRecording()) return proven;
  const { traceId, spanId, traceFlags } = span.spanContext();
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  return { ...proven, event: { ...event, traceparent } };
}
