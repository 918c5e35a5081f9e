import { expect, test } from 'vitest';
import { carriedOf, NOT_CARRIED, restore } from '../../workflows/flow/continue.js';
import type { FlowState, QueuedCommand } from '../../workflows/flow/state.js';
import { newState } from '../../workflows/flow/new-state.js';

const fresh = (): FlowState =>
  newState({
    type: 'charge',
    workflowId: 'payment-order-1',
    reference: 'order-1',
    amount: 6_000,
    currency: 'USD',
    businessUnit: 'default',
    fingerprint: 'print',
    kind: 'charge',
    startedAt: 1,
    startedByClient: true,
    startedWith: { reference: 'order-1' },
  });

/** As the engine hands it on. */
const handedOn = (flow: FlowState) => JSON.parse(JSON.stringify(carriedOf(flow))) as ReturnType<typeof carriedOf>;

test('every field of a flow goes along when it continues as new, unless it is named as one that does not', () => {
  const left: readonly string[] = NOT_CARRIED;
  const fields = Object.keys(fresh()).filter((name) => !left.includes(name));
  const flow = fresh();
  for (const name of fields) if (name !== 'runs') Reflect.set(flow, name, { mark: name });
  Object.assign(flow, { aFieldOfTomorrow: ['x'] });
  const next = fresh();
  restore(next, handedOn(flow));
  for (const name of fields)
    if (!['runs', 'cancelRequested'].includes(name)) expect(Reflect.get(next, name)).toEqual({ mark: name });
  expect(Reflect.get(next, 'aFieldOfTomorrow')).toEqual(['x']);
  expect(next.runs).toBe(2);
});

test.each([
  ['a function', () => undefined],
  ['a Map', new Map([['a', 1]])],
  ['a Date', new Date(0)],
  ['an error', new Error('lost')],
  ['Infinity', Number.POSITIVE_INFINITY],
])('a field that is %s can not be handed on, and is not lost in silence', (_what, value) => {
  const flow = fresh();
  Object.assign(flow, { added: { deep: [value] } });
  expect(() => carriedOf(flow)).toThrow('flow.added.deep[0] is no plain data');
});

test('a command is one wherever the flow speaks of it: who repeats it is told the answer of the first', () => {
  const command: QueuedCommand = { commandId: 'take', name: 'capture', request: { amount: 5_000 } };
  const flow = fresh();
  flow.commands.set('take', command);
  flow.queue.push(command);
  flow.frames.push({ name: 'hold', notes: { act: { name: 'capture', command } } });
  const next = fresh();
  restore(next, handedOn(flow));
  const again = next.commands.get('take');
  expect(again).toEqual(command);
  expect(next.queue[0]).toBe(again);
  const [taken] = next.toResume as { notes: { act: { command: object } } }[];
  expect(taken?.notes.act.command).toBe(again);
});

test('a cancel goes along, as the engine does not hand it on', () => {
  const flow = fresh();
  flow.isCancelled = () => true;
  const next = fresh();
  restore(next, handedOn(flow));
  expect(next.cancelRequested).toBe(true);
});
