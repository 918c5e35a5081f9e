import { setTimeout as sleep } from 'node:timers/promises';
import { followReview, twice } from './charge-scenarios.js';
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

/** Money that is held first: taken, let go, both at once, or left to its deadline. */
export const HOLD_SCENARIOS: readonly Scenario[] = [
  {
    name: 'authorize with any card, auto',
    play: async (desk, pick) => void (await desk.authorize(pick(Object.values(CARDS)), { captureMode: 'auto' })),
  },
  {
    name: 'authorize, capture given twice',
    play: async (desk, pick) => {
      if (!(await held(desk, pick))) return;
      await twice(desk, 'capture', { commandId: 'take it', reference: desk.reference('c1') });
    },
  },
  {
    name: 'authorize, void given twice',
    play: async (desk, pick) => {
      if (!(await held(desk, pick))) return;
      await twice(desk, 'void', { commandId: 'let go' });
      await desk.command('capture', { reference: desk.reference('c1') }, { expected: 'refused' });
    },
  },
  {
    name: 'capture races void',
    play: async (desk, pick) => {
      if (!(await held(desk, pick))) return;
      const pair = await Promise.all([
        desk.command('capture', { reference: desk.reference('c1') }, { expected: 'any' }),
        desk.command('void', { commandId: 'v1' }, { expected: 'any' }),
      ]);
      const won = pair.filter(({ answer }) => answer?.status === 'succeeded').length;
      const refused = pair.filter(({ refusal }) => refusal?.type === 'StateConflict').length;
      desk.expect(won === 1 && refused === 1, `of capture and void ${won} succeeded and ${refused} were refused`);
    },
  },
  {
    name: 'capture a part, then the rest',
    play: async (desk, pick) => {
      if (!(await held(desk, pick))) return;
      const part = Math.floor(desk.account.amount * 0.4);
      const rest = desk.account.amount - part;
      const tooMuch = { reference: desk.reference('c0'), amount: desk.account.amount + 1 };
      const { refusal } = await desk.command('capture', tooMuch, { expected: 'refused' });
      desk.expect(refusal?.type === 'InvalidInput', 'a capture above the authorized amount was not refused as such');
      const first = await desk.command('capture', { reference: desk.reference('c1'), amount: part });
      await desk.ended();
      // What is left has been let go there.
      if (desk.releasesByVoid) return await refundBoth(desk, [[first.answer?.transactionId, part]]);
      const second = await desk.command('capture', { reference: desk.reference('c2'), amount: rest });
      await refundBoth(desk, [
        [first.answer?.transactionId, part],
        [second.answer?.transactionId, rest],
      ]);
    },
  },
  {
    name: 'captures that fail or pend',
    play: async (desk, pick) => {
      if (!(await held(desk, pick))) return;
      const failing = pick([FAILS, PENDS_THEN_FAILS]);
      const first = { reference: desk.reference('c1'), amount: failing };
      await desk.command('capture', first, { expected: 'declined' });
      if (pick([true, false])) await desk.command('void', { commandId: 'v1' });
      else await desk.command('capture', { reference: desk.reference('c2'), amount: PENDS_THEN_SUCCEEDS });
    },
  },
  {
    name: 'deadline lets go',
    brief: true,
    play: async (desk, pick) => void (await held(desk, pick)),
  },
  {
    name: 'deadline captures',
    brief: true,
    play: async (desk, pick) => void (await held(desk, pick, { onDeadline: 'capture' })),
  },
  {
    name: 'commands race the deadline',
    brief: true,
    play: async (desk, pick) => {
      const captureBy = await held(desk, pick, { onDeadline: pick(['void', 'capture']) });
      if (!captureBy) return;
      await sleep(Math.max(0, Date.parse(captureBy) - Date.now() - pick([0, 100, 300])));
      const request = { reference: desk.reference('c1') };
      if (pick([true, false])) await desk.command('capture', request, { expected: 'any' });
      else await desk.command('void', { commandId: 'v1' }, { expected: 'any' });
    },
  },
  {
    name: 'late capture by payment id',
    play: async (desk, pick) => {
      if (!(await held(desk, pick))) return;
      await desk.outside.terminate();
      const part = Math.floor(desk.account.amount * 0.4);
      const rest = desk.account.amount - part;
      if (desk.withoutReads) return await actInTheBackOffice(desk);
      const late = { late: true } as const;
      const first = await desk.command('capture', { reference: desk.reference('c1'), amount: part }, late);
      const second = await desk.command('capture', { commandId: 'the rest', amount: rest }, late);
      const more = { reference: desk.reference('c3'), amount: 6_000 };
      await desk.command('capture', more, { late: true, expected: 'refused' });
      await desk.command('void', { commandId: 'v1' }, { late: true, expected: 'refused' });
      await refundBoth(desk, [
        [first.answer?.transactionId, part],
        [second.answer?.transactionId, rest],
      ]);
    },
  },
  {
    name: 'late void by payment id',
    play: async (desk, pick) => {
      if (!(await held(desk, pick))) return;
      await desk.outside.terminate();
      if (desk.withoutReads) return await actInTheBackOffice(desk);
      await desk.command('void', { commandId: 'v1' }, { late: true });
      const request = { reference: desk.reference('c1') };
      await desk.command('capture', request, { late: true, expected: 'refused' });
    },
  },
  {
    name: 'authorize after risk analysis',
    play: async (desk, pick) => {
      const wanted = pick(['approve', 'decline', 'review', 'review'] as const);
      await analysed(desk, pick, { when: 'before', wanted });
    },
  },
  {
    name: 'risk analysis of what is held',
    play: async (desk, pick) => {
      const wanted = pick(['approve', 'decline', 'review', 'review'] as const);
      await analysed(desk, pick, { when: 'after', wanted });
    },
  },
];

/** False when the card was declined; else until when it may be captured. */
async function held(
  desk: Desk,
  pick: Pick,
  more: { onDeadline?: 'void' | 'capture' } = {},
): Promise<string | undefined> {
  const answer = await desk.authorize(goodCard(pick), more);
  return answer.status === 'authorized' ? answer.captureBy : undefined;
}

/** What the terminated flow has done can't be read: nothing is sent, and a person acts in the service's back office. */
async function actInTheBackOffice(desk: Desk): Promise<void> {
  const refused = { late: true, expected: 'refused' } as const;
  const told = [
    await desk.command('capture', { commandId: 'late' }, refused),
    await desk.command('void', { commandId: 'v1' }, refused),
  ];
  for (const { what, refusal } of told)
    desk.expect(refusal?.type === 'StateConflict', `a ${what} of what nobody can read was told as ${refusal?.type}`);
  await desk.outside.letGo();
}

async function refundBoth(desk: Desk, captures: [string | undefined, number][]): Promise<void> {
  await Promise.all(
    captures.map(([captureId, amount], index) =>
      desk.command('refund', {
        reference: desk.reference(`r${index + 1}`),
        amount,
        ...(captureId !== undefined && { captureId }),
      }),
    ),
  );
}

async function analysed(
  desk: Desk,
  pick: Pick,
  { when, wanted }: { when: 'before' | 'after'; wanted: 'approve' | 'decline' | 'review' },
): Promise<void> {
  const billingAddress = { email: RISK_EMAILS[wanted] };
  const begun = await desk.authorize(goodCard(pick), { risk: { when }, billingAddress });
  const decision = await followReview(desk, pick, begun.status, wanted);
  if (decision === 'decline') return;
  // The review has just ended: the flow takes no command before the money is held.
  await desk.untilHeld();
  await desk.command('capture', { reference: desk.reference('c1') });
}
