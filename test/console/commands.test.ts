import { beforeEach, describe, expect, test } from 'vitest';
import { paymentWorkflowId } from '../../src/contract/names.js';
import type { Done, Refusal } from '../../tools/console/answers.js';
import type { PlannedAnswer } from '../../tools/testing/in-memory-payment.js';
import { CHECKOUT, flow, TestConsole } from './parts.js';

const URL_OF = `/api/flows/${paymentWorkflowId('shop-1')}/commands`;

let at: TestConsole;
beforeEach(async () => {
  at = new TestConsole();
  await at.call('/api/checkout', { ...CHECKOUT, amount: '60' });
  at.rows = [flow({})];
});

async function refund(commandId: string, amount: string): Promise<Done & Partial<Refusal>> {
  return (await at.call(URL_OF, { command: 'refund', commandId, amount, currency: 'USD' })).body as Done;
}

describe('the answer to a command', () => {
  test.each<[PlannedAnswer, true | undefined]>([
    [{ status: 'declined' }, true],
    [{ status: 'notExecuted' }, true],
    [{ status: 'declined', confirmed: false }, undefined],
    [{ status: 'succeeded' }, undefined],
    [{ status: 'pending' }, undefined],
    [{ status: 'unknown' }, undefined],
  ])('says whether no money has moved by it, nor will: %j', async (answer, movedNothing) => {
    at.holdfast.plan('c-1', answer);
    expect((await refund('c-1', '20.00')).movedNothing).toBe(movedNothing);
  });

  test('that nobody has confirmed to have failed is one for a person', async () => {
    at.holdfast.plan('c-1', { status: 'declined', confirmed: false });
    const { said } = await refund('c-1', '20.00');
    expect(said).toMatchObject({ tone: 'person', what: expect.stringContaining('money may have moved') });
  });

  test('is refused for more than there is, by which nothing has moved, and for another amount under its id', async () => {
    expect((await refund('c-1', '70.00')).error).toMatchObject({
      what: expect.stringMatching(/^InvalidInput/),
      movedNothing: true,
    });
    const other = await refund('c-1', '20.00');
    expect([other.error?.what, other.error?.movedNothing]).toEqual([
      expect.stringMatching(/^ReferenceConflict/),
      undefined,
    ]);
    expect((await refund('c-2', '20.00')).status).toBe('succeeded');
    expect(at.holdfast.moneyMoved('shop-1')).toBe(4_000);
  });
});

interface CommandId {
  readonly current: string;
  sent(id: string): void;
  answered(id: string, movedNothing: boolean): void;
  failed(id: string, movedNothing: boolean): void;
}

/** The page's own file, as browsers read it. */
async function newId(): Promise<CommandId> {
  const file = new URL('../../tools/console/page/command-id.js', import.meta.url).href;
  return new ((await import(file)) as { CommandId: new () => CommandId }).CommandId();
}

/** @returns the id under which a request leaves */
function press(id: CommandId): string {
  const { current } = id;
  id.sent(current);
  return current;
}

describe('the id of a form’s command', () => {
  test('is another one once it is known that no money has moved by it', async () => {
    const id = await newId();
    const first = press(id);
    id.answered(first, true);
    const second = press(id);
    expect(second).not.toBe(first);
    id.failed(second, true);
    expect([first, second]).not.toContain(id.current);
  });

  test('stays while money may have moved by it, whatever is refused after that', async () => {
    const id = await newId();
    const first = id.current;
    for (const end of [() => id.answered(first, false), () => id.failed(first, false)]) {
      press(id);
      end();
      press(id);
      id.failed(first, true);
      expect(id.current).toBe(first);
    }
    // Asked again, it has moved nothing after all.
    press(id);
    id.answered(first, true);
    expect(id.current).not.toBe(first);
  });

  test('stays while another request under it is under way, whatever is refused meanwhile', async () => {
    const id = await newId();
    const first = press(id);
    press(id);
    id.failed(first, true);
    expect(press(id)).toBe(first);
    id.failed(first, true);
    expect(id.current).toBe(first);
    id.failed(first, true);
    expect(id.current).not.toBe(first);
  });

  test('does not change by the second answer to an earlier one: what was sent since may move money', async () => {
    const id = await newId();
    const first = press(id);
    press(id);
    id.answered(first, true);
    const second = press(id);
    id.answered(first, true);
    id.failed(first, true);
    expect(id.current).toBe(second);
  });
});
