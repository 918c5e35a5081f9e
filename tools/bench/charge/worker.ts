/** One worker of the benchmark as its own process: `node dist/tools/bench/charge/worker.js <variant>`. */
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { DEFAULT_HOLD_MS } from '../../../src/domain/hold.js';
import { createDispatcher, ProviderClient } from '../../../src/provider/index.js';
import { createDataConverter } from '../../../src/security/data-converter.js';
import { parseKeyRing } from '../../../src/security/key-ring.js';
import { createPaymentWorker } from '../../../workers/create-payment-worker.js';
import { createNaiveActivities } from './naive/activities.js';
import { NAIVE_TASK_QUEUE, type Variant, WAITING_UNIT } from './variants.js';

const variant = process.argv[2] as Variant;
const address = process.env['TEMPORAL_ADDRESS'] ?? '';
const namespace = process.env['TEMPORAL_NAMESPACE'] ?? '';
const baseUrl = process.env['HOLDFAST_API_BASE_URL'] ?? '';
const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

Runtime.install({ logger: new DefaultLogger('WARN') });
const connection = await NativeConnection.connect({ address });
const worker = variant === 'naive' ? await naiveWorker() : await holdfastWorker();
process.stdout.write(`ready ${variant} pid:${process.pid}\n`);
await worker.run();
process.exit(0);

async function naiveWorker(): Promise<Worker> {
  return await Worker.create({
    connection,
    namespace,
    taskQueue: NAIVE_TASK_QUEUE,
    workflowsPath: fileOf('./naive/workflows.js'),
    activities: createNaiveActivities(baseUrl),
  });
}

async function holdfastWorker(): Promise<Worker> {
  const dataConverter = createDataConverter(parseKeyRing(process.env['HOLDFAST_ENCRYPTION_KEYS'] ?? ''));
  const unit = { appId: 'holdfast-sandbox', privateKey: 'sandbox-private-key', apiVersion: '1.3.0' } as const;
  const providerAt = (url: string): ProviderClient =>
    new ProviderClient({ baseUrl: url, environment: 'test', unit, dispatcher: createDispatcher() });
  const waitingUrl = process.env['HOLDFAST_BENCH_WAITING_URL'];
  const providers = new Map([
    ['default', providerAt(baseUrl)],
    ...(waitingUrl === undefined ? [] : [[WAITING_UNIT, providerAt(waitingUrl)] as const]),
  ]);
  return await createPaymentWorker({
    connection,
    client: new Client({ connection: await Connection.connect({ address }), namespace, dataConverter }),
    dataConverter,
    providers,
    units: new Map([...providers.keys()].map((name) => [name, { riskUnit: name, holdMs: DEFAULT_HOLD_MS }])),
  });
}
