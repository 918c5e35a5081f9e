import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { MEMO_KEYS, PAYMENTS_TASK_QUEUE, paymentWorkflowId, WORKFLOW_TYPES } from '../../../src/contract/names.js';
import { listenLocally } from '../../stack/ports.js';
import { startBenchStack } from '../support/bench-stack.js';
import { chargeInput } from '../support/payments.js';
import { runJobs, numbersOf, table } from '../support/stats.js';
import { comparedCells, CONCURRENCY, type Load, measureRound, medianRound, openLoad, type Round } from './load.js';
import { WAITING_UNIT } from './variants.js';

interface WrongAmounts {
  readonly url: string;
  close(): void;
}

/** A service that creates every payment one minor unit too high, so that nothing is charged on it. */
async function startWrongAmounts(): Promise<WrongAmounts> {
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { amount, currency } = body as { amount: number; currency: string };
      const payment = {
        id: randomUUID(),
        amount: amount + 1,
        currency,
        status: 'Initialized',
        created: String(Date.now()),
        modified: String(Date.now()),
      };
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(payment));
    });
  });
  return { url: await listenLocally(server), close: () => server.close() };
}

/** Starts `count` charges and waits until each of them waits for an operator, without a timer. */
async function openWaitingFlows(client: Client, count: number): Promise<void> {
  await runJobs(count, 64, async (index) => {
    const input = { ...chargeInput(`waiting-${index}`, randomUUID()), businessUnit: WAITING_UNIT };
    await client.workflow.start(WORKFLOW_TYPES.charge, {
      workflowId: paymentWorkflowId(input.reference),
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [input],
      memo: { [MEMO_KEYS.startedBy]: 'bench' },
    });
  });
  for (;;) {
    const waiting = await client.workflow.count('WaitingFor="operator" AND ExecutionStatus="Running"');
    if (waiting.count >= count) return;
    await sleep(500);
  }
}

/**
 * Measures charges beside many open flows: two stacks, one with `--open` (10,000) charges that wait for an operator,
 * one with none; the same charges on both, interleaved. `--rounds` (5), `--charges` (200).
 */

const { rounds, charges, open } = numbersOf({ rounds: 5, charges: 200, open: 10_000 });
const none = await startBenchStack(['no-events']);
const many = await startBenchStack(['no-events']);
const wrongAmounts = await startWrongAmounts();
const worker = {
  program: 'tools/bench/charge/worker.js',
  env: { HOLDFAST_BENCH_WAITING_URL: wrongAmounts.url },
};
try {
  const cells: { name: string; load: Load; measured: Round[] }[] = [
    { name: 'no open flow', load: await openLoad(none, 'no-events', worker), measured: [] },
    { name: `${open} open flows`, load: await openLoad(many, 'no-events', worker), measured: [] },
  ];
  const [empty, full] = cells as [(typeof cells)[number], (typeof cells)[number]];
  const before = full.load.workerMb();
  await openWaitingFlows(full.load.client, open);
  console.log(`The worker held ${before} MB before the flows were opened and ${full.load.workerMb()} MB after.`);
  for (let round = 0; round < rounds; round += 1) {
    for (const { load, measured } of cells) measured.push(await measureRound(load, charges, round));
  }
  const base = medianRound(empty.measured);
  const rows = [['beside', 'per s (c=32)', 'x none', 'p50 ms (c=1)', 'x none', 'p99 ms', 'worker MB']];
  for (const { name, load, measured } of cells) {
    const own = medianRound(measured);
    rows.push([name, ...comparedCells(own, base), own.alone.p99.toFixed(1), String(load.workerMb())]);
  }
  console.log(`Medians of ${rounds} interleaved rounds, ${charges} charges each at concurrency ${CONCURRENCY}.\n`);
  console.log(table(rows));
} finally {
  wrongAmounts.close();
  await none.stop();
  await many.stop();
}
