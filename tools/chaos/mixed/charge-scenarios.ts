import type { Desk } from './desk.js';
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

/** Money that is taken at once, and given back; money sent to a card; risk on its own. */
export const CHARGE_SCENARIOS: readonly Scenario[] = [
  {
    name: 'charge with any card',
    play: async (desk, pick) => {
      const { status } = await desk.charge(pick(Object.values(CARDS)));
      if (status === 'succeeded') return;
      await desk.command('refund', { reference: desk.reference('r1'), amount: 6_000 }, { expected: 'refused' });
    },
  },
  {
    name: 'charge, refund in parts',
    play: async (desk, pick) => {
      if ((await desk.charge(goodCard(pick))).status !== 'succeeded') return;
      const part = Math.floor(desk.account.amount * 0.4);
      const rest = desk.account.amount - 2 * part;
      await desk.command('refund', { reference: desk.reference('r1'), amount: part });
      await desk.command('refund', { commandId: 'second', amount: part });
      const tooMuch = { reference: desk.reference('r3'), amount: rest + 1 };
      const { refusal } = await desk.command('refund', tooMuch, { expected: 'refused' });
      desk.expect(refusal?.type === 'InvalidInput', `a refund of ${rest + 1} of ${rest} was not refused as such`);
      await desk.command('refund', { reference: desk.reference('r4'), amount: rest });
      await desk.command('refund', { reference: desk.reference('r5') }, { expected: 'refused' });
    },
  },
  {
    name: 'charge, two equal refunds',
    play: async (desk, pick) => {
      if ((await desk.charge(goodCard(pick))).status !== 'succeeded') return;
      await desk.outside.loseNextReply('refunds');
      const refund = (suffix: string) =>
        desk.command('refund', { reference: desk.reference(suffix), amount: 6_000 }, { late: pick([true, false]) });
      const [one, other] = await Promise.all([refund('r1'), refund('r2')]);
      const ids = [one.answer?.transactionId, other.answer?.transactionId];
      desk.expect(ids[0] !== ids[1], `two equal refunds were told to be the same one, ${ids[0]}`);
    },
  },
  {
    name: 'charge, a refund given twice',
    play: async (desk, pick) => {
      if ((await desk.charge(goodCard(pick))).status !== 'succeeded') return;
      const request = { commandId: 'goods came back', reference: desk.reference('r1'), amount: 6_000 };
      await twice(desk, 'refund', request);
      const other = { ...request, amount: 6_001 };
      const { refusal } = await desk.command('refund', other, { expected: 'refused' });
      desk.expect(
        refusal?.type === 'ReferenceConflict',
        'another request under the same command id was not a conflict',
      );
    },
  },
  {
    name: 'charge, refunds that fail or pend',
    play: async (desk, pick) => {
      if ((await desk.charge(goodCard(pick))).status !== 'succeeded') return;
      const refund = (suffix: string, amount: number, expected: 'succeeded' | 'declined') =>
        desk.command('refund', { reference: desk.reference(suffix), amount }, { expected });
      await Promise.all([
        refund('r1', pick([FAILS, PENDS_THEN_FAILS]), 'declined'),
        refund('r2', PENDS_THEN_SUCCEEDS, 'succeeded'),
      ]);
      await refund('r3', 6_000, 'succeeded');
    },
  },
  {
    name: 'charge after risk analysis',
    play: async (desk, pick) => {
      const wanted = pick(['approve', 'decline', 'review', 'review'] as const);
      const risk = { when: 'before' as const };
      const begun = await desk.charge(goodCard(pick), { risk, billingAddress: { email: RISK_EMAILS[wanted] } });
      await followReview(desk, pick, begun.status, wanted);
    },
  },
  { name: 'credit', play: async (desk, pick) => void (await desk.credit(pick(Object.values(CARDS)))) },
  {
    name: 'risk analysis alone',
    play: async (desk, pick) => {
      const wanted = pick(['approve', 'decline', 'review'] as const);
      const { status } = await desk.analyseRisk(CARDS.succeeds, { billingAddress: { email: RISK_EMAILS[wanted] } });
      desk.expect(status === wanted, `its risk is ${wanted}, but the answer was ${status}`);
    },
  },
];

/** Both callers of one command must be told the same. */
export async function twice(
  desk: Desk,
  name: 'capture' | 'void' | 'refund',
  request: { commandId: string; reference?: string; amount?: number },
): Promise<void> {
  const [one, other] = await Promise.all([desk.command(name, request), desk.command(name, request)]);
  const seen = [one, other].map(({ answer, refusal }) => `${answer?.status} ${answer?.transactionId} ${refusal?.type}`);
  desk.expect(seen[0] === seen[1], `the same ${name} was told as ${seen.join(' and as ')}`);
}

/** Where there is a review somebody ends it. Tells how the risk was decided in the end. */
export async function followReview(
  desk: Desk,
  pick: Pick,
  status: string,
  wanted: 'approve' | 'decline' | 'review',
): Promise<'approve' | 'decline'> {
  let decision: 'approve' | 'decline' = wanted === 'decline' ? 'decline' : 'approve';
  if (wanted === 'review') {
    desk.expect(status === 'underReview', `its risk needs a review, but the answer was ${status}`);
    decision = pick(['approve', 'decline']);
    await desk.outside.decide(pick(['operator', 'provider']), decision);
  }
  return decision;
}
