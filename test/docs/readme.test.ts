import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import { card, reauthorized } from '../../tools/demo/card-flows.js';
import type { DemoFlow } from '../../tools/demo/demo-step.js';
import { declined, replyLost, succeeds, webhook, webhookLost, workerKilled } from '../../tools/demo/flows.js';
import { deadline, partCaptured, race } from '../../tools/demo/hold-flows.js';
import { FLOW_NAMES } from '../../tools/demo/merchant.js';
import { cellOfMovements } from '../../tools/demo/movements.js';
import { credit, refund, review } from '../../tools/demo/other-flows.js';
import { subscription } from '../../tools/demo/subscription-flow.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { half } from '../support/counts.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import type { TestStack } from '../support/stack.js';
import { temporalAddress } from '../support/temporal.js';
import { stackOfPages } from './stack-of-pages.js';

const ROOT = new URL('../../', import.meta.url);
const README = readFileSync(new URL('README.md', ROOT), 'utf8');
const run = promisify(execFile);

let stack: TestStack;
beforeAll(async () => {
  stack = await stackOfPages();
});
afterAll(async () => {
  await stack?.close();
});

describe('the README', () => {
  test('explains every failure type of the contract, and none that does not exist', () => {
    const table = README.slice(README.indexOf('## Failures'), README.indexOf('## Where things are'));
    const named = [...table.matchAll(/^\| `([A-Za-z]+)`/gm)].map(([, name]) => name);
    const clientOnly = ['EngineUnavailable', 'FlowNotFound', 'FlowStopped'];
    expect(named.toSorted()).toEqual([...Object.values(FAILURE_TYPES), ...clientOnly].toSorted());
    expect(table).not.toMatch(/\| +\|/);
  });

  test.each(
    half([
      ['a card that is accepted', CARDS.succeeds, /^paid: [0-9a-f-]{36}\n$/],
      ['a card that pends', CARDS.pendsThenSucceeds, /^not known yet: Charge of 10\.95 USD, order-1001: transaction/],
    ] as const),
  )('shows a program that runs as it stands (%s)', async (_name, card, printed) => {
    const program = /```js\n([\s\S]*?)```/.exec(README)?.[1] ?? '';
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(15);
    const { token } = await stack.sandbox.tokenize(card);
    const reference = `order-${card}`;
    const stdout = await printedBy(
      `const token = '${token}';\n${program.replaceAll('order-1001', reference.replaceAll(/\d{6}/g, 'x'))}`,
    );
    expect(stdout.replaceAll(/order-x[x\d]*/g, 'order-1001')).toMatch(printed);
  });
});

describe('the output of the demo in the README', () => {
  const output = /shows fifteen flows:\n\n```\n([\s\S]*?)```/.exec(README)?.[1] ?? '';
  const none = (): void => undefined;
  const flows: readonly DemoFlow[] = [
    ...[succeeds, declined, replyLost, partCaptured, race, deadline, refund, review, credit, card(none)],
    ...[reauthorized(Promise.resolve(undefined)), subscription, workerKilled(none), webhook, webhookLost],
  ];

  test('ends every flow as the demo expects it to, with the money that it expects to have moved', () => {
    const rows = [...output.matchAll(/^ {3}demo-[0-9a-z]+-(\S+) +(.*?) {3,}\S+ {3,}(.*)$/gm)];
    expect(rows.map(([, name]) => name)).toEqual(FLOW_NAMES);
    for (const [, name, outcome, moved] of rows) {
      const { expected, orElse, success } = flows.find((flow) => flow.name === name) as DemoFlow;
      const ends = orElse === undefined ? [expected] : [expected, orElse];
      const shown = ends.find((end) => cellOfMovements(end.moved) === moved);
      expect(outcome, name).toMatch(new RegExp(`^(?:${success?.replaceAll(/[()]/g, '.') ?? shown?.status})`));
    }
  });

  test('tells of flows by the titles and in the order of the demo', () => {
    const titles = [...output.matchAll(/^(\d+)\. (.*)$/gm)];
    expect(titles.length).toBeGreaterThan(2);
    for (const [, number, title] of titles) {
      expect(flows.find(({ name }) => name === FLOW_NAMES[Number(number) - 1])?.title).toBe(title);
    }
  });

  test('has the buyer of the subscription cancel, and the merchant told of it', () => {
    // The same words as in the test of the demo.
    expect(output).toMatch(
      /the buyer cancels\n.*the merchant's address was told, .*: billed, declined, billed, billed, ended\n.*cancelled: 3 periods billed\n/,
    );
  });
});

test('the page for operators shows a program that wakes a flow', async () => {
  const page = readFileSync(new URL('docs/operator.md', ROOT), 'utf8');
  const program = /## retryNow\n[\s\S]*?```js\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
  expect(await stack.holdfast.charge({ ...input, reference: 'order-1003' })).toMatchObject({ status: 'pending' });
  expect(await printedBy(program)).toMatch(/^Woken: Charge of .*, order-1003: transaction/);
});

async function printedBy(program: string): Promise<string> {
  // Beside package.json, so that the package finds itself by its own name.
  const file = fileURLToPath(new URL(`.readme-${process.pid}.mjs`, ROOT));
  writeFileSync(file, program);
  try {
    const { stdout } = await run(process.execPath, [file], {
      env: {
        PATH: process.env['PATH'],
        TEMPORAL_ADDRESS: await temporalAddress(),
        TEMPORAL_NAMESPACE: stack.namespace,
        HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
      },
    });
    return stdout;
  } finally {
    rmSync(file, { force: true });
  }
}
