import { setTimeout as sleep } from 'node:timers/promises';
import { followReview, twice } from './charge-scenarios.js';
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

/** Authorizations: captured, voided, both at once, or left to their deadline. */
export const HOLD_SCENARIOS: readonly Scenario[] = [
  {
    name: 'authorize with any card, auto',
    run: async (driver, pick) => void (await driver.authorize(pick(Object.values(CARDS)), { captureMode: 'auto' })),
  },
  {
    name: 'authorize, capture given twice',
    run: async (driver, pick) => {
      if (!(await held(driver, pick))) return;
      await twice(driver, 'capture', { commandId: 'take it', reference: driver.reference('c1') });
    },
  },
  {
    name: 'authorize, void given twice',
    run: async (driver, pick) => {
      if (!(await held(driver, pick))) return;
      await twice(driver, 'void', { commandId: 'release' });
      await driver.command('capture', { reference: driver.reference('c1') }, { expected: 'refused' });
    },
  },
  {
    name: 'capture races void',
    run: async (driver, pick) => {
      if (!(await held(driver, pick))) return;
      const pair = await Promise.all([
        driver.command('capture', { reference: driver.reference('c1') }, { expected: 'any' }),
        driver.command('void', { commandId: 'v1' }, { expected: 'any' }),
      ]);
      const won = pair.filter(({ answer }) => answer?.status === 'succeeded').length;
      const refused = pair.filter(({ refusal }) => refusal?.type === 'StateConflict').length;
      driver.expect(won === 1 && refused === 1, `of capture and void ${won} succeeded and ${refused} were refused`);
    },
  },
  {
    name: 'capture a part, then the rest',
    run: async (driver, pick) => {
      if (!(await held(driver, pick))) return;
      const part = Math.floor(driver.record.amount * 0.4);
      const rest = driver.record.amount - part;
      const tooMuch = { reference: driver.reference('c0'), amount: driver.record.amount + 1 };
      const { refusal } = await driver.command('capture', tooMuch, { expected: 'refused' });
      driver.expect(refusal?.type === 'InvalidInput', 'a capture above the authorized amount was not refused as such');
      const first = await driver.command('capture', { reference: driver.reference('c1'), amount: part });
      await driver.ended();
      // The flow has voided the remainder after the partial capture.
      if (driver.releasesByVoid) return await refundBoth(driver, [[first.answer?.transactionId, part]]);
      const second = await driver.command('capture', { reference: driver.reference('c2'), amount: rest });
      await refundBoth(driver, [
        [first.answer?.transactionId, part],
        [second.answer?.transactionId, rest],
      ]);
    },
  },
  {
    name: 'captures that fail or pend',
    run: async (driver, pick) => {
      if (!(await held(driver, pick))) return;
      const failing = pick([FAILS, PENDS_THEN_FAILS]);
      const first = { reference: driver.reference('c1'), amount: failing };
      const { answer } = await driver.command('capture', first, { expected: 'declined' });
      // Where nobody can be asked whether it failed, nothing is sent beside it before a person has said so.
      const isConfirmed = !(answer?.status === 'declined' && answer.confirmed === false);
      const next = { expected: isConfirmed ? 'succeeded' : 'refused' } as const;
      if (pick([true, false])) await driver.command('void', { commandId: 'v1' }, next);
      else await driver.command('capture', { reference: driver.reference('c2'), amount: PENDS_THEN_SUCCEEDS }, next);
    },
  },
  {
    name: 'deadline releases',
    brief: true,
    run: async (driver, pick) => void (await held(driver, pick)),
  },
  {
    name: 'deadline captures',
    brief: true,
    run: async (driver, pick) => void (await held(driver, pick, { onDeadline: 'capture' })),
  },
  {
    name: 'commands race the deadline',
    brief: true,
    run: async (driver, pick) => {
      const captureBy = await held(driver, pick, { onDeadline: pick(['void', 'capture']) });
      if (!captureBy) return;
      await sleep(Math.max(0, Date.parse(captureBy) - Date.now() - pick([0, 100, 300])));
      const request = { reference: driver.reference('c1') };
      if (pick([true, false])) await driver.command('capture', request, { expected: 'any' });
      else await driver.command('void', { commandId: 'v1' }, { expected: 'any' });
    },
  },
  {
    name: 'late capture by payment id',
    run: async (driver, pick) => {
      if (!(await held(driver, pick))) return;
      await driver.external.terminate();
      const part = Math.floor(driver.record.amount * 0.4);
      const rest = driver.record.amount - part;
      if (driver.withoutReads) return await actInTheBackOffice(driver);
      const late = { late: true } as const;
      const first = await driver.command('capture', { reference: driver.reference('c1'), amount: part }, late);
      const second = await driver.command('capture', { commandId: 'the rest', amount: rest }, late);
      const more = { reference: driver.reference('c3'), amount: 6_000 };
      await driver.command('capture', more, { late: true, expected: 'refused' });
      await driver.command('void', { commandId: 'v1' }, { late: true, expected: 'refused' });
      await refundBoth(driver, [
        [first.answer?.transactionId, part],
        [second.answer?.transactionId, rest],
      ]);
    },
  },
  {
    name: 'late void by payment id',
    run: async (driver, pick) => {
      if (!(await held(driver, pick))) return;
      await driver.external.terminate();
      if (driver.withoutReads) return await actInTheBackOffice(driver);
      await driver.command('void', { commandId: 'v1' }, { late: true });
      const request = { reference: driver.reference('c1') };
      await driver.command('capture', request, { late: true, expected: 'refused' });
    },
  },
  {
    name: 'authorize after risk analysis',
    run: async (driver, pick) => {
      const wanted = pick(['approve', 'decline', 'review', 'review'] as const);
      await analysed(driver, pick, { when: 'before', wanted });
    },
  },
  {
    name: 'risk analysis of what is held',
    run: async (driver, pick) => {
      const wanted = pick(['approve', 'decline', 'review', 'review'] as const);
      await analysed(driver, pick, { when: 'after', wanted });
    },
  },
];

/** Returns until when the hold may be captured, or undefined if the card was declined. */
async function held(
  driver: FlowDriver,
  pick: Pick,
  more: { onDeadline?: 'void' | 'capture' } = {},
): Promise<string | undefined> {
  const answer = await driver.authorize(goodCard(pick), more);
  return answer.status === 'authorized' ? answer.captureBy : undefined;
}

/** A terminated flow can't be read, so late commands are refused unsent and an operator uses the back office. */
async function actInTheBackOffice(driver: FlowDriver): Promise<void> {
  const refused = { late: true, expected: 'refused' } as const;
  const operations = [
    await driver.command('capture', { commandId: 'late' }, refused),
    await driver.command('void', { commandId: 'v1' }, refused),
  ];
  for (const { what, refusal } of operations)
    driver.expect(refusal?.type === 'StateConflict', `a ${what} of what nobody can read was told as ${refusal?.type}`);
  await driver.external.releaseHold();
}

async function refundBoth(driver: FlowDriver, captures: [string | undefined, number][]): Promise<void> {
  await Promise.all(
    captures.map(([captureId, amount], index) =>
      driver.command('refund', {
        reference: driver.reference(`r${index + 1}`),
        amount,
        ...(captureId !== undefined && { captureId }),
      }),
    ),
  );
}

async function analysed(
  driver: FlowDriver,
  pick: Pick,
  { when, wanted }: { when: 'before' | 'after'; wanted: 'approve' | 'decline' | 'review' },
): Promise<void> {
  const billingAddress = { email: RISK_EMAILS[wanted] };
  const begun = await driver.authorize(goodCard(pick), { risk: { when }, billingAddress });
  const decision = await followReview(driver, pick, begun.status, wanted);
  if (decision === 'decline') return;
  // The review has just been decided, and the flow refuses commands until the money is held.
  await driver.untilHeld();
  await driver.command('capture', { reference: driver.reference('c1') });
}
