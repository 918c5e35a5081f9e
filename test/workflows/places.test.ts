import { describe, expect, test } from 'vitest';
import { newState } from '../../workflows/flow/new-state.js';
import { refuseTooManyCommands } from '../../workflows/flow/refuse.js';
import type { FlowState, QueuedCommand } from '../../workflows/flow/state.js';

function flowWith(commands: number, change: Partial<FlowState> = {}): FlowState {
  const flow = newState({
    type: 'paymentActions',
    workflowId: 'payment-actions-1',
    reference: 'one',
    amount: 6_000,
    currency: 'USD',
    businessUnit: 'default',
    fingerprint: 'print',
    kind: 'refund',
    startedAt: 1,
    startedByClient: true,
    startedWith: {},
  });
  for (let n = 0; n < commands; n += 1) {
    const refund: QueuedCommand = { commandId: `back ${n}`, name: 'refund', request: { amount: 5_000 } };
    flow.commands.set(refund.commandId, refund);
  }
  return Object.assign(flow, change);
}

describe('a flow that keeps as many commands as travel from run to run', () => {
  test('takes the thousandth, and says of the next one when it takes others', () => {
    expect(() => refuseTooManyCommands(flowWith(999))).not.toThrow();
    expect(() => refuseTooManyCommands(flowWith(1_000))).toThrow(/1000 commands; it takes others once none of them/);
  });

  test('says for whom it waits where a person is to look: until then it never closes', () => {
    const lasting = 'somebody else has refunded 50.00 USD';
    expect(() => refuseTooManyCommands(flowWith(1_000, { lasting }))).toThrow(
      /once a person has looked into this and said so by `retryNow`: somebody else has refunded 50\.00 USD/,
    );
  });
});
