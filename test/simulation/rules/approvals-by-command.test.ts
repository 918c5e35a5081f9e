import { expect, test } from 'vitest';
import type { ApprovalRequest } from '../../../src/cli/approval-arguments.js';
import { decide } from '../../../src/cli/approvals.js';
import type { Engine } from '../../../src/cli/engine.js';
import { beginFlow, inputOf, MINUTE, sharedTime } from './context.js';
import { GRACE, limitedUnit } from './limited-unit.js';

const time = sharedTime();
const { charged, newDay, pass } = limitedUnit(time);

async function run(request: Partial<ApprovalRequest> & { reference: string }) {
  const engine = { client: time.client, address: 'here', namespace: 'default' } as Engine;
  let out = '';
  const asked = { command: 'approve', json: false, ...GRACE, ...request } as const;
  const code = await decide(engine, asked, { print: (text) => void (out += text) });
  return { code, out };
}

test('what waits is found by the reference of the payment, and decided by its name', async () => {
  await newDay();
  const { actions, reference } = await charged();
  await expect(run({ reference })).rejects.toThrow('nothing waits for a decision');
  const { answer } = await actions.command('refund', { commandId: 'big', amount: 7_000, who: 'Ada' });
  await pass(MINUTE);
  const big = { reference, commandId: 'big' };
  await expect(run({ ...big, who: 'Ada' })).rejects.toThrow(
    'who: Ada has asked for "big"; another person has to decide',
  );
  expect(await run(big)).toMatchObject({ code: 0, out: expect.stringContaining('"big" approved by Grace') });
  expect(await answer).toMatchObject({ status: 'succeeded' });
  const credit = await beginFlow(time, 'credit', await inputOf(time, 'credit', { amount: 7_000, who: 'Ada' }));
  await pass(MINUTE);
  await run({ command: 'reject', reference: credit.reference, commandId: credit.reference });
  expect(await credit.outcome()).toMatchObject({ status: 'notExecuted' });
});

test.each([
  ['approve', 'approved', 'succeeded'],
  ['reject', 'rejected', 'notExecuted'],
] as const)('a decision to %s is answered again once the credit has ended', async (command, decision, status) => {
  await newDay();
  const credit = await beginFlow(time, 'credit', await inputOf(time, 'credit', { amount: 7_000, who: 'Ada' }));
  await pass(MINUTE);
  const { reference } = credit;
  const decided = { ...GRACE, commandId: reference };
  const first = await time.holdfast[command](reference, decided);
  expect(await credit.outcome()).toMatchObject({ status });
  await pass(MINUTE);
  expect(first).toMatchObject({ ...(await time.holdfast[command](reference, decided)), decision });
  expect(await run({ command, reference, commandId: reference })).toMatchObject({ code: 0 });
  const other = command === 'approve' ? 'reject' : 'approve';
  for (const otherwise of [
    time.holdfast[command](reference, { ...decided, why: 'another' }),
    time.holdfast[other](reference, decided),
  ])
    await expect(otherwise).rejects.toMatchObject({ type: 'StateConflict' });
});

test('without a name it decides nothing, and says what waits and how to decide on that: the next one was not looked at', async () => {
  await newDay();
  const { actions, reference, moved } = await charged();
  const first = await actions.command('refund', { commandId: "one's", amount: 6_100, who: 'Ada' });
  const second = await actions.command('refund', { commandId: 'two', amount: 5_900, who: 'Ada' });
  await pass(MINUTE);
  const { code, out } = await run({ reference });
  expect(code).toBe(1);
  expect(out).toContain('refund of 61.00 USD, command "one\'s" asked for by Ada, is not sent');
  const words = `npx holdfast approve ${reference} --command 'one'\\''s' --who Grace --why 'case 17'`;
  expect(out).toContain(`Nothing was decided. If this is the one: ${words}\n`);
  expect(JSON.parse((await run({ reference, json: true })).out)).toMatchObject({ approval: { commandId: "one's" } });
  await pass(MINUTE);
  expect(await moved()).toHaveLength(1);
  for (let times = 0; times < 2; times += 1) expect((await run({ reference, commandId: "one's" })).code).toBe(0);
  expect(await first.answer).toMatchObject({ status: 'succeeded' });
  await pass(MINUTE);
  expect(await second.answer).toMatchObject({ status: 'succeeded', amount: 5_900 });
});

test('a workflow of another application is not asked, and of several flows of the name none is', async () => {
  await newDay();
  const { actions, reference } = await charged();
  const { answer } = await actions.command('refund', { commandId: 'big', amount: 7_000, who: 'Ada' });
  await pass(MINUTE);
  const start = async (type: string, workflowId: string, taskQueue: string) =>
    await time.client.workflow.start(type, { taskQueue, workflowId });
  await start('order', reference, 'shop');
  expect(await run({ reference, commandId: 'big' })).toMatchObject({
    code: 0,
    out: expect.stringContaining('approved'),
  });
  expect(await answer).toMatchObject({ status: 'succeeded' });
  await start('order', 'shop-1', 'shop');
  await expect(run({ reference: 'shop-1', commandId: 'big' })).rejects.toThrow(
    'Nothing was decided: shop-1 is no flow of Holdfast',
  );
  await start('stranger', `subscription-${reference}`, 'holdfast-unserved');
  await expect(run({ reference, commandId: 'big' })).rejects.toThrow(
    `Nothing was decided: the name may mean any of ${actions.workflowId}, subscription-${reference}. Give the workflow id.`,
  );
  expect(await run({ reference: actions.workflowId, commandId: 'big' })).toMatchObject({ code: 0 });
});
