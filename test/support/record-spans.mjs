/** Preloaded into a process under test: appends its spans to the file `SPANS_FILE`, one JSON object a line. */
import { appendFileSync } from 'node:fs';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext();
      const { name, attributes, parentSpanContext } = span;
      const line = { name, attributes, traceId, spanId, parentSpanId: parentSpanContext?.spanId };
      appendFileSync(process.env.SPANS_FILE, `${JSON.stringify(line)}\n`);
    }
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
};

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
