import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../../src/client/index.js';
import { startParkedEvent } from '../../../src/client/event-sink.js';
import {
  parkedEventWorkflowId,
  resolveWorkflowId,
  subscriptionWorkflowId,
  type WorkflowType,
} from '../../../src/contract/names.js';
import { differencesFromExpected } from '../../../tools/audit/ledger.js';
import { storedCard, storeInput } from '../../support/cards.js';
import { CARDS, chargeInput, newReference } from '../../support/charges.js';
import { askInTurn, auditJourneys } from '../../support/crash-audit.js';
import { CHARGES, COMMANDS, type CrashPath } from '../../support/crash-paths.js';
import { authorizeInput, MOCK_FRIENDLY } from '../../support/payments.js';
import { serviceOf } from '../../support/service.js';
import { dailyInput } from '../../support/stack-subscriptions.js';
import type { TestStack } from '../../support/stack.js';

/** One thing that a caller wants of one flow type, from its undisturbed beginning to the ledger at its end. */
export interface SimulatedJourney {
  readonly name: string;
  readonly type: WorkflowType;
  /** What comes before the first moment that may be hit. Answers the rest, which tells what is wrong in the end. */
  begin(stack: TestStack): Promise<() => Promise<string[]>>;
}

const LIMIT_MS = 3_600_000;
const ASK_AGAIN_MS = 250;
const MOST_TRIES = 2_000;

/** Asks the same until the answer is what it must become, if it must; an engine that is away is asked again. */
async function insist<T>(ask: () => Promise<T>, isFinal: (answer: T) => boolean = () => true): Promise<T> {
  let last: unknown;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    try {
      const answer = await ask();
      if (isFinal(answer)) return answer;
      last = answer;
    } catch (error) {
      if (!(error instanceof HoldfastError && error.type === 'EngineUnavailable')) throw error;
      last = error.message;
    }
    await sleep(ASK_AGAIN_MS);
  }
  throw new Error(`Never answered, last with ${JSON.stringify(last)}`);
}

/** What differs between the ledger of the service and all that there must be. */
async function ledgerDifferences({ sandbox }: TestStack, expected: readonly string[]): Promise<string[]> {
  return differencesFromExpected(await sandbox.ledger(), expected);
}

function onPath(path: CrashPath, type: WorkflowType): SimulatedJourney {
  return {
    name: path.name,
    type,
    async begin(stack) {
      const journey = await path.begin(stack);
      return async () => {
        const settling = path.settledBy === undefined ? undefined : settle(stack, journey.reconciliationId);
        const record = await askInTurn(journey, LIMIT_MS);
        await settling;
        return auditJourneys([record], await stack.sandbox.ledger());
      };
    },
  };
}

/** Lets what pends succeed, once it does. */
async function settle({ sandbox }: TestStack, reconciliationId: string): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const [pending] = (await sandbox.ledger(reconciliationId)).filter(({ status }) => status === 'Pending');
    if (pending !== undefined) {
      await sandbox.complete(pending.transaction_id, { status: 'Succeed' });
      return;
    }
    await sleep(ASK_AGAIN_MS);
  }
  throw new Error(`Nothing pends for ${reconciliationId}`);
}

const HELD = `authorization Succeed ${MOCK_FRIENDLY} USD`;
const isIn =
  (...wanted: string[]) =>
  ({ status }: { status: string }): boolean =>
    wanted.includes(status);

const credit: SimulatedJourney = {
  name: 'credit',
  type: 'credit',
  async begin(stack) {
    const input = await authorizeInput(stack);
    return async () => {
      await insist(() => stack.holdfast.credit(input), isIn('succeeded'));
      return await ledgerDifferences(stack, [`credit Succeed ${MOCK_FRIENDLY} USD`]);
    };
  },
};

const lateCapture: SimulatedJourney = {
  name: 'capture of a hold of others',
  type: 'paymentActions',
  async begin(stack) {
    const service = serviceOf(stack);
    const { token } = await stack.sandbox.tokenize(CARDS.succeeds);
    const { id } = await service.post('/payments', { amount: MOCK_FRIENDLY, currency: 'USD' });
    await service.post(`/payments/${id}/authorizations`, { payment_method: { type: 'tokenized', token } });
    return async () => {
      const take = () => stack.holdfast.capture({ payment: id, currency: 'USD' }, { commandId: 'take' });
      await insist(take, isIn('succeeded'));
      return await ledgerDifferences(stack, [HELD, `capture Succeed ${MOCK_FRIENDLY} USD`]);
    };
  },
};

const storeCard: SimulatedJourney = {
  name: 'storeCard',
  type: 'storeCard',
  async begin(stack) {
    const input = await storeInput(stack);
    return async () => {
      const stored = await insist(() => stack.holdfast.storeCard(input), isIn('stored'));
      const { customerId } = stored as { customerId: string };
      const { cards } = await insist(() => stack.holdfast.listCards({ customerId }));
      return [
        ...(cards.length === 1 ? [] : [`the customer has ${cards.length} cards on file`]),
        ...(await ledgerDifferences(stack, [HELD, `void Succeed ${MOCK_FRIENDLY} USD`])),
      ];
    };
  },
};

/** What storing a card leaves in the ledger before. */
const STORED = [HELD, `void Succeed ${MOCK_FRIENDLY} USD`];

const storedCardCharge: SimulatedJourney = {
  name: 'charge of a stored card',
  type: 'charge',
  async begin(stack) {
    const { token, customerId } = await storedCard(stack);
    const input = await chargeInput(stack.sandbox, CARDS.succeeds, {
      customerId,
      paymentMethod: { type: 'tokenized', token },
    });
    return async () => {
      await insist(() => stack.holdfast.charge(input), isIn('succeeded'));
      return await ledgerDifferences(stack, [...STORED, 'charge Succeed 1095 USD']);
    };
  },
};

const analyseRisk: SimulatedJourney = {
  name: 'analyseRisk',
  type: 'analyseRisk',
  async begin(stack) {
    const { reference, amount, currency, paymentMethod } = await authorizeInput(stack);
    return async () => {
      const asked = { reference, amount, currency, paymentMethod, billingAddress: { email: 'ada@shop.example' } };
      await insist(() => stack.holdfast.analyseRisk(asked), isIn('approve'));
      return await ledgerDifferences(stack, []);
    };
  },
};

const resolvePending: SimulatedJourney = {
  name: 'resolvePending',
  type: 'resolvePending',
  async begin(stack) {
    const { token } = await stack.sandbox.tokenize(CARDS.pendsThenSucceeds);
    const service = serviceOf(stack);
    const { id: paymentId } = await service.post('/payments', { amount: 1_095, currency: 'USD' });
    const { id: transactionId } = await service.post(`/payments/${paymentId}/charges`, {
      payment_method: { type: 'tokenized', token },
    });
    return async () => {
      const ask = () =>
        stack.holdfast.resolvePending({ paymentId, transactionId, kind: 'charge', amount: 1_095, currency: 'USD' });
      await insist(ask);
      await stack.sandbox.complete(transactionId, { status: 'Succeed' });
      const result = (await stack.temporal.workflow.getHandle(resolveWorkflowId(transactionId)).result()) as object;
      return [
        ...('status' in result && result.status === 'succeeded' ? [] : [`was told as ${JSON.stringify(result)}`]),
        ...(await ledgerDifferences(stack, ['charge Succeed 1095 USD'])),
      ];
    };
  },
};

const subscription: SimulatedJourney = {
  name: 'one period of a subscription',
  type: 'subscription',
  async begin(stack) {
    const input = await dailyInput(stack, -1, { periods: 1 });
    return async () => {
      await insist(() => stack.holdfast.subscribe(input));
      const handle = stack.temporal.workflow.getHandle(subscriptionWorkflowId(input.reference));
      const ended = (await handle.result()) as { billedPeriods: number };
      return [
        ...(ended.billedPeriods === 1 ? [] : [`${ended.billedPeriods} periods are said to be billed`]),
        ...(await ledgerDifferences(stack, ['charge Succeed 6000 EUR'])),
      ];
    };
  },
};

const parkedEvent: SimulatedJourney = {
  name: 'an event that nobody claims',
  type: 'parkedEvent',
  async begin(stack) {
    const { id: paymentId } = await serviceOf(stack).post('/payments', { amount: 1_095, currency: 'USD' });
    return async () => {
      const hash = newReference('event').padEnd(64, '0');
      const event = {
        hash,
        eventType: 'payment.charge.update',
        created: new Date().toISOString(),
        businessUnit: 'default',
        paymentId,
        trusted: true,
      };
      await startParkedEvent(stack.temporal, { event, reason: 'lookUpFailed' }, 'once');
      const result = (await stack.temporal.workflow.getHandle(parkedEventWorkflowId(hash)).result()) as object;
      return [
        ...('status' in result && result.status === 'unclaimed' ? [] : [`ended as ${JSON.stringify(result)}`]),
        ...(await ledgerDifferences(stack, [])),
      ];
    };
  },
};

const listCards: SimulatedJourney = {
  name: 'listCards',
  type: 'listCards',
  async begin(stack) {
    const { customerId, token } = await storedCard(stack);
    return async () => {
      const { cards } = await insist(() => stack.holdfast.listCards({ customerId }));
      const tokens = cards.map((card) => card.token);
      return [
        ...(tokens.join() === token ? [] : [`the cards are told as ${tokens.join()}, not ${token}`]),
        ...(await ledgerDifferences(stack, STORED)),
      ];
    };
  },
};

const removeCard: SimulatedJourney = {
  name: 'removeCard',
  type: 'removeCard',
  async begin(stack) {
    const { customerId, token } = await storedCard(stack);
    return async () => {
      await insist(() => stack.holdfast.removeCard({ customerId, token, commandId: 'gone' }), isIn('removed'));
      const { cards } = await insist(() => stack.holdfast.listCards({ customerId }));
      return [
        ...(cards.length === 0 ? [] : [`${cards.length} cards are still on file`]),
        ...(await ledgerDifferences(stack, STORED)),
      ];
    };
  },
};

/** Every flow type, each with every kind of write that it makes. */
export const JOURNEYS: readonly SimulatedJourney[] = [
  ...CHARGES.filter(({ lost }) => lost === undefined).map((path) => onPath(path, 'charge')),
  ...COMMANDS.filter(({ lost }) => lost === undefined).map((path) =>
    onPath(
      path,
      path.name.startsWith('refund') || path.name.startsWith('void') ? 'paymentActions' : 'authorizeAndCapture',
    ),
  ),
  credit,
  lateCapture,
  storeCard,
  storedCardCharge,
  analyseRisk,
  resolvePending,
  subscription,
  parkedEvent,
  listCards,
  removeCard,
];
