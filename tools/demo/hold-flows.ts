import { HoldfastError } from '../../src/client/index.js';
import type { Authorized, AuthorizeOutcome } from '../../src/contract/authorize.js';
import type { FinalOutcome } from '../../src/contract/messages.js';
import { showMoney } from '../../src/domain/money.js';
import { ProblemError, REPLY_OR_EVENT, SUCCEEDS, type DemoFlow, CURRENCY, WAIT, type DemoStep } from './demo-step.js';
import type { EmbeddedWorld } from './embedded/world.js';

/** Minor units. The mock provider approves every capture from 40.00 and every void from 50.00. */
const HELD = 12_000;
const CAPTURED = 8_000;
const RACED = 6_500;
const NEVER_CAPTURED = 9_500;
const COMMANDS = ['capture', 'void'] as const;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Default of `deadlineWarning`. */
const WARNED_BEFORE_MS = 12 * HOUR_MS;

const money = (amount: number): string => showMoney(amount, CURRENCY);
const movement = (kind: string, amount: number) => ({ kind, amount, currency: CURRENCY });

export const partCaptured: DemoFlow = {
  name: 'part-captured',
  title: 'An authorization that is captured in part',
  expected: {
    status: 'captured',
    knownBy: REPLY_OR_EVENT,
    moved: [movement('authorization', HELD), movement('capture', CAPTURED)],
  },
  async run(step) {
    step.step(`asks for ${money(HELD)} to be held`);
    const input = await step.input(SUCCEEDS, HELD);
    const held = authorized(await step.holdfast.authorize(input, WAIT));
    step.step(
      `the caller is told "authorized" as soon as it is held; capture or void may follow until ${day(held.captureBy)}`,
    );
    await step.holdfast.capture(step.reference, { amount: CAPTURED }, WAIT);
    step.step(`the goods are sent: capture of ${money(CAPTURED)}`);
    const outcome = await step.end(held);
    step.step(restOf(outcome));
    return outcome;
  },
};

export const race: DemoFlow = {
  name: 'race',
  title: 'Capture and void of one authorization, sent at the same moment',
  expected: {
    status: 'captured',
    knownBy: REPLY_OR_EVENT,
    moved: [movement('authorization', RACED), movement('capture', RACED)],
  },
  orElse: {
    status: 'voided',
    knownBy: REPLY_OR_EVENT,
    moved: [movement('authorization', RACED), movement('void', RACED)],
  },
  async run(step) {
    const held = authorized(await step.holdfast.authorize(await step.input(SUCCEEDS, RACED), WAIT));
    step.step(`${money(RACED)} are held; one clerk captures them while another one voids them`);
    const raced = await Promise.allSettled([
      step.holdfast.capture(step.reference, {}, WAIT),
      step.holdfast.void(step.reference, {}, WAIT),
    ]);
    const [winner, loser] = raced[0].status === 'fulfilled' ? COMMANDS : COMMANDS.toReversed();
    const refused = raced.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    const [refusal] = refused;
    if (refused.length !== 1) throw new ProblemError(`of its two commands ${refused.length} were refused, not one`);
    if (!(refusal instanceof HoldfastError && refusal.type === 'StateConflict'))
      throw new ProblemError(String(refusal));
    step.step(`the ${winner} came first; the ${loser} is answered: ${refusal.message}`);
    return await step.end(held);
  },
};

export const deadline: DemoFlow = {
  name: 'deadline',
  title: 'An authorization that nobody captures: its deadline voids it, six days later',
  where: 'embedded',
  expected: {
    status: 'voided',
    knownBy: REPLY_OR_EVENT,
    moved: [movement('authorization', NEVER_CAPTURED), movement('void', NEVER_CAPTURED)],
  },
  async run(step) {
    const { world } = step;
    if (world === undefined) throw new ProblemError('it has no world whose time could be jumped');
    step.step(
      'six days are long, so time is jumped: Temporal skips it for this one flow, and the clock of an embedded ' +
        'sandbox is moved by as much; never while one of its webhooks is still to be delivered',
    );
    const input = { ...(await step.input(SUCCEEDS, NEVER_CAPTURED)), businessUnit: world.businessUnit };
    const held = authorized(await step.holdfast.authorize(input, WAIT));
    step.step(`${money(NEVER_CAPTURED)} are held; capture by ${day(held.captureBy)}, or the hold is voided`);
    const captureBy = Date.parse(held.captureBy);
    await jump(step, world, captureBy - WARNED_BEFORE_MS);
    await step.until(async () => (await step.holdfast.status(step.reference)).waitingFor === 'captureSoonDue');
    step.step(`asked to explain itself: ${await step.explain()}`);
    await jump(step, world, captureBy);
    const outcome = await step.end(held);
    const dated = (await step.ledger()).find(({ kind }) => kind === 'void')?.created;
    const settledAt = Date.parse(outcome.evidence.settledAt);
    if (settledAt < captureBy) throw new ProblemError(`its hold was voided before the deadline, on ${day(settledAt)}`);
    if (!(Math.abs(Number(dated) - settledAt) < MINUTE_MS)) {
      throw new ProblemError(
        `the clocks have parted: it is ${day(settledAt)} for the flow, ${day(Number(dated))} at its sandbox`,
      );
    }
    step.step(`the deadline has voided it: by the clocks of both it is ${day(settledAt)}`);
    return outcome;
  },
};

async function jump(step: DemoStep, world: EmbeddedWorld, to: number): Promise<void> {
  const ms = await world.jumpTo(step.workflowId, to);
  step.step(`TIME JUMPED by ${Math.round(ms / HOUR_MS)} hours`);
}

function authorized(outcome: AuthorizeOutcome): Authorized {
  if (outcome.status === 'authorized') return outcome;
  throw new ProblemError(`its authorization ended ${outcome.status}, not authorized`);
}

function restOf(outcome: FinalOutcome): string {
  const released = outcome.status === 'captured' ? outcome.released : undefined;
  if (released?.by !== 'expiry') throw new ProblemError('it does not say what becomes of the rest of the hold');
  return `the other ${money(released.amount)}: ${released.why}, so the provider releases it on ${day(released.at)}`;
}

/** Formats as "2026-11-27 16:00 UTC". */
function day(time: number | string): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
