import type { DemoStack } from './demo-stack.js';

const OURS = 'PaymentStatus IS NOT NULL';
/** A flow that only waits for a further command, as that of a refund does for 30 days, counts as idle. */
const OPEN = `${OURS} AND ExecutionStatus = "Running" AND PaymentStatus != "idle"`;

/** Reports flows of earlier starts in Temporal: nothing, one line, or two lines with a link to those still open. */
export async function earlierFlows({ temporal, context }: DemoStack): Promise<string[]> {
  const [all, open] = await Promise.all([temporal.workflow.count(OURS), temporal.workflow.count(OPEN)]);
  if (all.count === 0) return [];
  const flows = all.count === 1 ? '1 flow' : `${all.count} flows`;
  if (open.count === 0) return [`Temporal still has ${flows} of earlier starts, all of them at rest.`];
  const goOn = open.count === 1 ? '1 has not ended yet and goes on' : `${open.count} have not ended yet and go on`;
  const { uiUrl, namespace } = context.temporal;
  return [
    `Temporal still has ${flows} of earlier starts; ${goOn}:`,
    `   ${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows?query=${encodeURIComponent(OPEN)}`,
  ];
}
