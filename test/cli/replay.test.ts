import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Client } from '@temporalio/client';
import { exitCodeOf, historiesOf, isMadeByReset, REPLAYED_TYPES, type Summary } from '../../src/cli/replay.js';
import * as workflows from '../../workflows/index.js';

type History = Parameters<typeof isMadeByReset>[0];
const recorded = (name: string): History =>
  JSON.parse(readFileSync(new URL(`../replay/histories/${name}.json`, import.meta.url), 'utf8')) as History;

test('the gate of a deploy replays every type of flow that workers register', () => {
  expect([...REPLAYED_TYPES].toSorted()).toEqual(Object.keys(workflows).toSorted());
});

test('it leaves out what a reset made, and nothing else', () => {
  expect(isMadeByReset(recorded('charge-risk-declined-then-reset'))).toBe(true);
  expect(isMadeByReset(recorded('charge-risk-declined-then-reset-to-its-end'))).toBe(true);
  expect(isMadeByReset(recorded('charge-risk-declined'))).toBe(false);
});

const summaryOf = async (which: { open: boolean; recent: boolean }): Promise<Summary> => {
  const typedSearchAttributes = { get: () => undefined };
  const workflow = {
    async *list({ query }: { query: string }) {
      if (!query.includes('"charge"')) return;
      for (const workflowId of ['payment-1', 'payment-2', 'payment-3'])
        yield { workflowId, runId: workflowId, typedSearchAttributes };
    },
    getHandle: () => ({ fetchHistory: async () => recorded('charge-succeeded') }),
  };
  const client = { workflow, withDeadline: (_at: number, ask: () => unknown) => ask() } as unknown as Client;
  const summary: Summary = { replayed: {}, pinned: 0, reset: 0, leftOut: { open: [], ended: [] }, differences: [] };
  for await (const _history of historiesOf(client, { ...which, pinned: false, limit: 2 }, summary));
  return summary;
};

test('it ends with 3 where its limit leaves open flows out, which go on with code that nobody has tried on them', async () => {
  const ofOpen = await summaryOf({ open: true, recent: false });
  expect(ofOpen).toMatchObject({ replayed: { charge: 2 }, leftOut: { open: ['charge'], ended: [] } });
  expect(exitCodeOf(ofOpen)).toBe(3);
  const differing = { ...ofOpen, differences: [{ workflowId: 'payment-1', runId: 'r', difference: 'another timer' }] };
  expect(exitCodeOf(differing)).toBe(1);
  const ofEnded = await summaryOf({ open: false, recent: true });
  expect(ofEnded).toMatchObject({ replayed: { charge: 2 }, leftOut: { open: [], ended: ['charge'] } });
  expect(exitCodeOf(ofEnded)).toBe(0);
});
