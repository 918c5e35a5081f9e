import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  authorizeSpec,
  cardFingerprint,
  chargeSpec,
  creditSpec,
  riskSpec,
  storeCardSpec,
  subscriptionSpec,
} from '../../src/client/flow-spec.js';
import { fingerprint } from '../../src/contract/fingerprint.js';
import { FLOWS } from '../../src/contract/flows.js';
import * as names from '../../src/contract/names.js';
import { INPUTS } from './flow-inputs.arbitrary.js';

/** An input of a flow, read by the names of its fields. */
// oxlint-disable-next-line typescript/no-explicit-any
type Fields = any;
type Facts = [workflowId: string, print: string];
const fromSpec = ({ workflowId, fingerprint: print }: { workflowId: string; fingerprint: string }): Facts => [
  workflowId,
  print,
];
const paid = (type: string, input: Fields): Facts => {
  const { reference, amount, currency, businessUnit, paymentMethod, customerId } = input;
  return [
    names.paymentWorkflowId(reference),
    fingerprint({ type, reference, amount, currency, businessUnit, token: paymentMethod.token, customerId }),
  ];
};
/** As the client has it, and as the workflow has it. */
const OLD: Record<keyof typeof INPUTS, ((input: Fields) => Facts)[]> = {
  charge: [(i) => fromSpec(chargeSpec(i)), (i) => paid('charge', i)],
  authorizeAndCapture: [(i) => fromSpec(authorizeSpec(i)), (i) => paid('authorizeAndCapture', i)],
  credit: [(i) => fromSpec(creditSpec(i)), (i) => paid('credit', i)],
  storeCard: [
    (i) => fromSpec(storeCardSpec(i)),
    (input) => {
      const { reference, amount, currency, businessUnit, paymentMethod, customer } = input;
      return [
        names.paymentWorkflowId(reference),
        fingerprint({
          type: 'storeCard',
          reference,
          amount,
          currency,
          businessUnit,
          token: paymentMethod.token,
          customerId: customer.customerReference,
        }),
      ];
    },
  ],
  analyseRisk: [
    (i) => fromSpec(riskSpec(i)),
    (input) => {
      const { reference, amount, currency, businessUnit, paymentMethod, customerId } = input;
      return [
        names.riskWorkflowId(reference),
        fingerprint({
          type: 'analyseRisk',
          reference,
          amount,
          currency,
          businessUnit,
          token: paymentMethod?.token,
          customerId,
        }),
      ];
    },
  ],
  paymentActions: [
    ({ paymentId, currency, businessUnit }) => [
      names.paymentActionsWorkflowId(paymentId),
      fingerprint({ type: 'paymentActions', reference: paymentId, amount: 0, currency, businessUnit }),
    ],
  ],
  resolvePending: [
    ({ transactionId, amount, currency, businessUnit }) => [
      names.resolveWorkflowId(transactionId),
      fingerprint({ type: 'resolvePending', reference: transactionId, amount, currency, businessUnit }),
    ],
  ],
  subscription: [(i) => fromSpec(subscriptionSpec(i))],
  listCards: [(i) => [names.cardWorkflowId(i.customerId, i.commandId), cardFingerprint('listCards', i)]],
  removeCard: [(i) => [names.cardWorkflowId(i.customerId, i.commandId), cardFingerprint('removeCard', i)]],
};

describe('the table of flows', () => {
  test.each(Object.keys(INPUTS) as (keyof typeof INPUTS)[])('says of %s what client and workflow have said', (type) => {
    const flow = FLOWS[type] as unknown as { workflowId(i: unknown): string; fingerprint(i: unknown): string };
    let runs = 0;
    fc.assert(
      fc.property(INPUTS[type] as fc.Arbitrary<unknown>, (input) => {
        runs += 1;
        for (const old of OLD[type]) expect([flow.workflowId(input), flow.fingerprint(input)]).toEqual(old(input));
      }),
      { numRuns: 500 },
    );
    expect(runs).toBe(500);
  });
});
