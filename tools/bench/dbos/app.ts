/**
 * A charge as a DBOS workflow, behind HTTP as in DBOS's own examples: `node dist/tools/bench/dbos/app.js <folder of the
 * SDK> <URL of its database>`.
 */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { listenLocally } from '../../stack/ports.js';
import { createNaiveActivities, type NaiveCharge } from '../charge/naive/activities.js';

/** What is used of the SDK, whose own types are not installed where this is compiled. */
interface Dbos {
  setConfig(config: { name: string; applicationVersion: string; systemDatabaseUrl: string; logLevel: string }): void;
  launch(): Promise<void>;
  registerWorkflow<Input, Output>(
    workflow: (input: Input) => Promise<Output>,
    options: { name: string },
  ): (input: Input) => Promise<Output>;
  runStep<Output>(step: () => Promise<Output>, options: { name: string; retriesAllowed: boolean }): Promise<Output>;
  startWorkflow<Input, Output>(
    workflow: (input: Input) => Promise<Output>,
    options: { workflowID: string },
  ): (input: Input) => Promise<{ getResult(): Promise<Output> }>;
}

const [folder = '', systemDatabaseUrl = ''] = process.argv.slice(2);
const { DBOS } = createRequire(join(folder, 'package.json'))('@dbos-inc/dbos-sdk') as { DBOS: Dbos };
const activities = createNaiveActivities(process.env['HOLDFAST_API_BASE_URL'] ?? '');

/** The steps are the activities of the naive charge: the same calls with the same keys. */
async function charge(input: NaiveCharge): Promise<string> {
  const payment = await DBOS.runStep(() => activities.createPayment(input), {
    name: 'createPayment',
    retriesAllowed: true,
  });
  return await DBOS.runStep(() => activities.createCharge(input, payment), {
    name: 'createCharge',
    retriesAllowed: true,
  });
}
const workflow = DBOS.registerWorkflow(charge, { name: 'charge' });

DBOS.setConfig({ name: 'holdfast-bench', applicationVersion: '1', systemDatabaseUrl, logLevel: 'warn' });
await DBOS.launch();
const server = createServer((request, response) => {
  const run = async (): Promise<string> => {
    const input = (await json(request)) as NaiveCharge;
    return await (await DBOS.startWorkflow(workflow, { workflowID: input.reference })(input)).getResult();
  };
  run().then(
    (chargeId) => response.end(chargeId),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
process.stdout.write(`ready dbos ${await listenLocally(server)}\n`);
