import { loadConfig } from '../../src/config/index.js';
import type { Stored } from '../../src/contract/cards.js';
import { card, reauthorized } from './card-flows.js';
import type { DemoContext, DemoResult, RunDemo } from './context.js';
import { earlierFlows, declined, replyLost, succeeds, webhook, webhookLost, workerKilled } from './flows.js';
import type { DemoFlow } from './demo-step.js';
import { deadline, partCaptured, race } from './hold-flows.js';
import { credit, refund, review } from './other-flows.js';
import { blockOf, hintsOf, tableOf } from './output.js';
import { type FlowReport, runFlow } from './run-flow.js';
import { FLOW_NAMES } from './merchant.js';
import { openDemoStack, whyNotHere, type DemoStack } from './demo-stack.js';
import { subscription } from './subscription-flow.js';

/** The demo must end within 90 s in any case. */
const LIMIT_MS = 80_000;

/** Runs every flow, each with a different fault or decision, and shows what the sandbox's ledger has in the end. */
export const runDemo: RunDemo = async (context) => {
  const config = loadConfig(context.env);
  const unfit = whyNotHere(config, context);
  if (unfit !== undefined) return { problems: [unfit] };
  const tooLong = new AbortController();
  const timer = setTimeout(
    () => tooLong.abort(new Error(`it had not ended when the demo was given up after ${LIMIT_MS / 1000} s`)),
    LIMIT_MS,
  );
  const stack = await openDemoStack(context, config, AbortSignal.any([context.signal, tooLong.signal]));
  const removeFaults = (): void => void stack.faults.removeAll();
  // Immediately, because the sandbox is stopping too.
  context.signal.addEventListener('abort', removeFaults, { once: true });
  try {
    return await show(stack, context);
  } finally {
    clearTimeout(timer);
    context.signal.removeEventListener('abort', removeFaults);
    await Promise.all([stack.faults.removeAll(), stack.close()]);
  }
};

async function show(stack: DemoStack, context: DemoContext): Promise<DemoResult> {
  const print = (line: string): void => {
    if (!context.signal.aborted) context.print(line);
  };
  const [earlier] = await Promise.all([earlierFlows(stack), stack.faults.removeLeftOver()]);
  print('');
  for (const line of earlier) print(line);
  const count = FLOW_NAMES.length;
  print(`The demo: ${count} payments on the sandbox. Each must move its money once at most, whatever goes wrong.`);
  const reports: FlowReport[] = [];
  const shown = async (report: Promise<FlowReport>): Promise<void> => {
    reports.push(await report);
    for (const line of blockOf(reports.length, reports.at(-1) as FlowReport)) print(line);
  };
  const run = (flow: DemoFlow): Promise<FlowReport> => runFlow(stack, flow);

  await shown(run(succeeds));
  for (const report of [run(declined), run(replyLost)]) await shown(report);

  // The other flows run concurrently, but only on the new worker, because the kill must affect no other flow.
  let restarted!: () => void;
  const workerIsBack = new Promise<void>((resolve) => (restarted = resolve));
  const killed = run(workerKilled(restarted));
  // Starts the boot early, because it takes some seconds. The flow that needs it requests it again and waits.
  stack.embedded().catch(() => undefined);
  print('');
  print('Three more charges now run in the background for about 25 s; they are shown last. Meanwhile the other flows:');
  await Promise.race([workerIsBack, killed]);
  const slow = [killed, run(webhook), run(webhookLost)];
  const held = [partCaptured, race].map(run);
  const jumped = run(deadline);
  const others = [...[refund, review, credit].map(run), ...cards(run), run({ ...subscription, after: jumped })];
  for (const report of [...held, jumped, ...others, ...slow]) await shown(report);

  // What moved after a flow had ended counts too.
  const last = await Promise.all(reports.map(async (report) => ({ ...report, ...(await report.readAgain()) })));
  const problems = last.flatMap((report) => report.problems);
  print('');
  for (const line of [summaryOf(problems), ...tableOf(last), '', ...hintsOf(context, last)]) print(line);
  return { problems };
}

/** The second flow uses the card that the first one stores. */
function cards(run: (flow: DemoFlow) => Promise<FlowReport>): Promise<FlowReport>[] {
  let stored!: (card: Stored | undefined) => void;
  const onFile = new Promise<Stored | undefined>((resolve) => (stored = resolve));
  const first = run(card(stored));
  void first.then(() => stored(undefined));
  return [first, run(reauthorized(onFile))];
}

function summaryOf(problems: readonly string[]): string {
  if (problems.length === 0) return `All ${FLOW_NAMES.length} ended as they should, and no money moved twice:`;
  return `${problems.length === 1 ? 'One thing is' : `${problems.length} things are`} not as it should be:`;
}
