import { expect, test } from 'vitest';

interface Fault {
  name: string;
}

const { FAULTS } = (await load('faults/index.mjs')) as { FAULTS: readonly Fault[] };
const { whyNot } = (await load('runner/plant-all.mjs')) as { whyNot: (fault: Fault) => string | undefined };

test('each planted fault fits the sources: nobody plants all at each commit, and one that does not fit proves nothing', () => {
  const left = FAULTS.map((fault) => [fault.name, whyNot(fault)]).filter(([, why]) => why !== undefined);
  expect(left).toEqual([]);
  const names = FAULTS.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

/** They are no TypeScript. */
async function load(file: string): Promise<unknown> {
  return (await import(new URL(`../mutants/${file}`, import.meta.url).href)) as unknown;
}
