import type { Client } from '@temporalio/client';
import { parseRequest } from '../../../src/cli/arguments.js';
import { runBulk } from '../../../src/cli/bulk.js';
import type { BulkRequest } from '../../../src/cli/bulk-arguments.js';
import type { Engine } from '../../../src/cli/engine.js';
import type { BulkResult, BulkStatus } from '../../../src/contract/bulk.js';
import { monthly, subscribe } from '../../support/subscriptions.js';
import type { SimulatedTime } from '../simulated-time.js';
import { MINUTE } from './context.js';

export const NOTED = ['--who', 'Ada', '--why', 'a strike'];

/** The other subscriptions of a file are left out. */
export function only(flows: readonly { workflowId: string }[]): string[] {
  return ['--query', flows.map(({ workflowId }) => `WorkflowId = '${workflowId}'`).join(' OR ')];
}

export const startOf = (action: readonly string[], name: string, ...more: string[]) => [
  ...action,
  '--unit',
  'default',
  '--name',
  name,
  ...NOTED,
  ...more,
];

/** Begins bulks, and looks at them, as a person does. */
export function bulking(time: SimulatedTime) {
  let bulks = 0;
  const runOn = async (client: Client, ...args: string[]) => {
    let out = '';
    let err = '';
    const request = parseRequest(['subscriptions', 'bulk', ...args]) as BulkRequest;
    const code = await runBulk({ client } as Engine, request, {
      print: (text) => void (out += text),
      printError: (text) => void (err += text),
    });
    return { code, out, err };
  };
  const run = async (...args: string[]) => await runOn(time.client, ...args);
  return {
    run,
    runOn,
    newName: (): string => `strike-${(bulks += 1)}`,
    subscribed: async (count: number) => {
      const flows = [];
      for (let at = 0; at < count; at += 1) {
        const input = await monthly(time);
        flows.push({ ...(await subscribe(time, input)), input });
      }
      await time.passUntil((await time.now()) + MINUTE);
      return flows;
    },
    begin: async (action: readonly string[], name: string, ...more: string[]) =>
      await run(...startOf(action, name, ...more)),
    ended: async (name: string) => (await time.client.workflow.getHandle(`bulk-${name}`).result()) as BulkStatus,
    results: async (name: string): Promise<BulkResult[]> => {
      const { out } = await run('results', name);
      const all = out.split('\n').filter(Boolean);
      return all.map((line) => JSON.parse(line) as BulkResult);
    },
  };
}
