/**
 * Compares the webhook handler with its upper bounds: with Temporal, the rate of bare signals to the same server;
 * without Temporal, a bare `node:http` server that checks the same signature. Arguments: `--events <n>` per round
 * (default 2000), `--rounds <n>` (3), `--burst <n>` (5000), `--flows <n>` (200), `--plain <n>` requests without
 * Temporal (20000).
 */
import type { Client } from '@temporalio/client';
import { Pool } from 'undici';
import { createEventSink } from '../../../src/client/event-sink.js';
import { readEvent } from '../../../src/webhook/transaction-event.js';
import { signedValues } from '../../../src/webhook/signature.js';
import { startBenchStack } from '../support/bench-stack.js';
import { numbersOf, median, runJobs, table } from '../support/stats.js';
import { closedLoad, openLoad, type Load } from './load.js';
import { startReadyProcess } from '../../stack/ready-process.js';
import { APP_ID, EVENT_TYPE, KEY, signedRequest, type SignedRequest } from './requests.js';

const CONCURRENCY = 64;
const { events, rounds, burst, flows, plain } = numbersOf({
  events: 2_000,
  rounds: 3,
  burst: 5_000,
  flows: 200,
  plain: 20_000,
});

const whole = (value: number): string => value.toFixed(0);
const ratio = (part: number, of: number): string => (part / of).toFixed(2);
const statusesOf = ({ statuses }: Load): string => [...statuses].map(([status, n]) => `${n} x ${status}`).join(', ');

await withoutTemporal();
await withTemporal();

async function withoutTemporal(): Promise<void> {
  const requests = Array.from({ length: plain }, () => signedRequest('order-1'));
  const found: Record<'handler' | 'listener' | 'bare', number[]> = { handler: [], listener: [], bare: [] };
  for (let round = 0; round < rounds; round += 1) {
    // The servers alternate, so that a machine that slows down slows all of them.
    for (const name of ['bare', 'listener', 'handler'] as const) {
      const server = await startReadyProcess('dist/tools/bench/webhook/servers.js', {
        args: [name],
        env: {},
        showErrors: true,
      });
      const pool = new Pool(server.url, { connections: CONCURRENCY });
      // Warms up, so that only compiled code is measured.
      await closedLoad(pool, requests, CONCURRENCY);
      const load = await closedLoad(pool, requests, CONCURRENCY);
      if (load.statuses.get(200) !== requests.length) throw new Error(`${name} answered ${statusesOf(load)}`);
      found[name].push(load.perSecond);
      await pool.close();
      await server.kill();
    }
  }
  const [handler, listener, bare] = [median(found.handler), median(found.listener), median(found.bare)];
  console.log('without Temporal, median of rounds');
  console.log(
    table([
      ['', 'requests/s', 'of bare'],
      ['bare node:http server, same signature', whole(bare), '1.00'],
      ['webhook handler mounted in node:http', whole(listener), ratio(listener, bare)],
      ['webhook handler as its own process serves it', whole(handler), ratio(handler, bare)],
    ]),
  );
}

async function withTemporal(): Promise<void> {
  const stack = await startBenchStack(['webhook']);
  const { temporal: client } = await stack.connect();
  const handler = await stack.start('workers/webhook.js', {
    env: {
      HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { appId: APP_ID, privateKey: KEY } }),
      HOLDFAST_LOG_LEVEL: 'error',
    },
  });
  const pool = new Pool(handler.url, { connections: 256 });
  try {
    const references = await openFlows(client);
    const sink = createEventSink(client);
    const batch = (count: number) =>
      Array.from({ length: count }, (_, index) => signedRequest(references[index % references.length] ?? ''));
    const signal = async (requests: readonly SignedRequest[]): Promise<number> => {
      const begun = performance.now();
      await runJobs(requests.length, CONCURRENCY, async (index) => {
        const { event } = readEvent(signedValues(EVENT_TYPE, JSON.parse(requests[index]?.body ?? '')), 'default');
        if (event !== undefined) await sink.deliver(`payment-${event.reconciliationId}`, event);
      });
      return requests.length / ((performance.now() - begun) / 1000);
    };

    const bare: number[] = [];
    const handled: number[] = [];
    await signal(batch(500));
    await closedLoad(pool, batch(500), CONCURRENCY);
    for (let round = 0; round < rounds; round += 1) {
      bare.push(await signal(batch(events)));
      handled.push((await closedLoad(pool, batch(events), CONCURRENCY)).perSecond);
    }
    const half = await openLoad(pool, batch(events), median(handled) / 2);
    const accepted: SignedRequest[] = [];
    const load = await openLoad(pool, batch(burst), burst / 5, (request) => accepted.push(request));
    const lost = await missing(client, references, accepted);

    console.log('\nwith Temporal, median of rounds');
    console.log(
      table([
        ['', 'events/s', 'of bare'],
        ['bare signals to the same server', whole(median(bare)), '1.00'],
        ['webhook handler', whole(median(handled)), ratio(median(handled), median(bare))],
      ]),
    );
    console.log(`acknowledgement at half that load: p50 ${half.p50.toFixed(1)} ms, p99 ${half.p99.toFixed(1)} ms`);
    console.log(`burst of ${burst} in 5 s: ${statusesOf(load)}; accepted and lost: ${lost}`);
    if (lost > 0 || [...load.statuses.keys()].some((status) => status !== 200 && status !== 503)) process.exitCode = 1;
  } finally {
    await pool.destroy();
    await stack.stop();
  }
}

/** Opens flows without a worker: only the delivery of events to them is measured. */
async function openFlows(client: Client): Promise<string[]> {
  const references = Array.from({ length: flows }, (_, index) => `bench-${index}`);
  await runJobs(flows, 16, async (index) => {
    const workflowId = `payment-${references[index]}`;
    await client.workflow.start('waits', { workflowId, taskQueue: 'nobody', args: [] });
  });
  return references;
}

async function missing(client: Client, references: readonly string[], accepted: readonly SignedRequest[]) {
  const arrived = new Set<string>();
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  await runJobs(references.length, 8, async (index) => {
    const history = await client.workflow.getHandle(`payment-${references[index]}`).fetchHistory();
    for (const event of history.events ?? []) {
      let payloads = event.workflowExecutionSignaledEventAttributes?.input?.payloads ?? [];
      for (const codec of payloadCodecs) payloads = await codec.decode(payloads);
      const [payload] = payloads;
      if (payload != null) arrived.add(payloadConverter.fromPayload<{ hash: string }>(payload).hash);
    }
  });
  return accepted.filter(({ hash }) => !arrived.has(hash)).length;
}
