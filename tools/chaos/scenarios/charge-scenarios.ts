import type { FlowDriver } from '../driver/flow-driver.js';
import {
  CARDS,
  FAILS,
  goodCard,
  PENDS_THEN_FAILS,
  PENDS_THEN_SUCCEEDS,
  RISK_EMAILS,
  type Pick,
  type Scenario,
} from './scenario.js';

/** Charges and refunds, credits, and risk analyses without a payment operation. */
export const CHARGE_SCENARIOS: readonly Scenario[] = [
  {
    name: 'charge with any card',
    isChargeAlone: true,
    run: async (driver, pick) => {
      const { status } = await driver.charge(pick(Object.values(CARDS)));
      if (status === 'succeeded') return;
      await driver.command('refund', { reference: driver.reference('r1'), amount: 6_000 }, { expected: 'refused' });
    },
  },
  {
    name: 'charge, refund in parts',
    run: async (driver, pick) => {
      if ((await driver.charge(goodCard(pick))).status !== 'succeeded') return;
      const part = Math.floor(driver.record.amount * 0.4);
      const rest = driver.record.amount - 2 * part;
      await driver.command('refund', { reference: driver.reference('r1'), amount: part });
      await driver.command('refund', { commandId: 'second', amount: part });
      const tooMuch = { reference: driver.reference('r3'), amount: rest + 1 };
      const { refusal } = await driver.command('refund', tooMuch, { expected: 'refused' });
      driver.expect(refusal?.type === 'InvalidInput', `a refund of ${rest + 1} of ${rest} was not refused as such`);
      await driver.command('refund', { reference: driver.reference('r4'), amount: rest });
      await driver.command('refund', { reference: driver.reference('r5') }, { expected: 'refused' });
    },
  },
  {
    name: 'charge, two equal refunds',
    run: async (driver, pick) => {
      if ((await driver.charge(goodCard(pick))).status !== 'succeeded') return;
      await driver.external.loseNextReply('refunds');
      const refund = (suffix: string) =>
        driver.command('refund', { reference: driver.reference(suffix), amount: 6_000 }, { late: pick([true, false]) });
      const [one, other] = await Promise.all([refund('r1'), refund('r2')]);
      const ids = [one.answer?.transactionId, other.answer?.transactionId];
      driver.expect(ids[0] !== ids[1], `two equal refunds were told to be the same one, ${ids[0]}`);
    },
  },
  {
    name: 'charge, a refund given twice',
    run: async (driver, pick) => {
      if ((await driver.charge(goodCard(pick))).status !== 'succeeded') return;
      const request = { commandId: 'goods came back', reference: driver.reference('r1'), amount: 6_000 };
      await twice(driver, 'refund', request);
      const other = { ...request, amount: 6_001 };
      const { refusal } = await driver.command('refund', other, { expected: 'refused' });
      driver.expect(
        refusal?.type === 'ReferenceConflict',
        'another request under the same command id was not a conflict',
      );
    },
  },
  {
    name: 'charge, refunds that fail or pend',
    run: async (driver, pick) => {
      if ((await driver.charge(goodCard(pick))).status !== 'succeeded') return;
      const refund = (suffix: string, amount: number, expected: 'succeeded' | 'declined') =>
        driver.command('refund', { reference: driver.reference(suffix), amount }, { expected });
      await Promise.all([
        refund('r1', pick([FAILS, PENDS_THEN_FAILS]), 'declined'),
        refund('r2', PENDS_THEN_SUCCEEDS, 'succeeded'),
      ]);
      await refund('r3', 6_000, 'succeeded');
    },
  },
  {
    name: 'charge after risk analysis',
    run: async (driver, pick) => {
      const wanted = pick(['approve', 'decline', 'review', 'review'] as const);
      const risk = { when: 'before' as const };
      const begun = await driver.charge(goodCard(pick), { risk, billingAddress: { email: RISK_EMAILS[wanted] } });
      await followReview(driver, pick, begun.status, wanted);
    },
  },
  { name: 'credit', run: async (driver, pick) => void (await driver.credit(pick(Object.values(CARDS)))) },
  {
    name: 'risk analysis alone',
    run: async (driver, pick) => {
      const wanted = pick(['approve', 'decline', 'review'] as const);
      const { status } = await driver.analyseRisk(CARDS.succeeds, { billingAddress: { email: RISK_EMAILS[wanted] } });
      driver.expect(status === wanted, `its risk is ${wanted}, but the answer was ${status}`);
    },
  },
];

/** Sends one command twice at once. Both callers must get the same answer. */
export async function twice(
  driver: FlowDriver,
  name: 'capture' | 'void' | 'refund',
  request: { commandId: string; reference?: string; amount?: number },
): Promise<void> {
  const [one, other] = await Promise.all([driver.command(name, request), driver.command(name, request)]);
  const seen = [one, other].map(({ answer, refusal }) => `${answer?.status} ${answer?.transactionId} ${refusal?.type}`);
  driver.expect(seen[0] === seen[1], `the same ${name} was told as ${seen.join(' and as ')}`);
}

/** Decides the review, if there is one. Returns the final risk decision. */
export async function followReview(
  driver: FlowDriver,
  pick: Pick,
  status: string,
  wanted: 'approve' | 'decline' | 'review',
): Promise<'approve' | 'decline'> {
  let decision: 'approve' | 'decline' = wanted === 'decline' ? 'decline' : 'approve';
  if (wanted === 'review') {
    driver.expect(status === 'underReview', `its risk needs a review, but the answer was ${status}`);
    decision = pick(['approve', 'decline']);
    await driver.external.decide(pick(['operator', 'provider']), decision);
  }
  return decision;
}
