import { setTimeout as sleep } from 'node:timers/promises';
import { ensureReady } from '../../../tools/setup.mjs';
import { chooseSeed } from '../../../tools/tests/seed.mjs';

/** Flows that meet outages, each at this distance from the next. */
const FLOWS = process.env.HOLDFAST_FULL === '1' ? 300 : 60;
const PACE_MS = 500;
/** More would wait for each other, and meet nothing of what fails. */
const MOST_OPEN = 48;
/** By then flows are under way. */
const LEAD_MS = 4_000;
const HEALTHY_WITHIN_MS = 120_000;
/** Who is killed at a sample of crash points, a round each. */
const VICTIMS = [['worker'], ['worker', 'temporal'], ['worker'], ['worker', 'temporal', 'postgres']];

/**
 * The promises on the real thing: flows of every kind while what they run on fails. At the end the ledger of the sandbox
 * is counted, and compared with what each caller was told.
 */
export async function run({ check, open, close, say }) {
  await ensureReady({ need: ['packages', 'build'] });
  const { ChaosContext } = await import('../chaos/context.mjs');
  const { outagesOf } = await import('../chaos/outages.mjs');
  const { CrashPoints } = await import('../chaos/crash-points.mjs');
  const { auditLedger, noticesViolations } = await import('../chaos/ledger-audit.mjs');
  const seed = Number(chooseSeed());
  say(`seed ${seed}: HOLDFAST_SEED=${seed} repeats the kinds and cards of the flows`);
  const context = await ChaosContext.open({ open, seed });
  try {
    if (!(await check('the stack is up from nothing, with two workers', () => context.up()))) return;
    const points = new CrashPoints(context, VICTIMS.length);
    if (await check('one flow of each kind, undisturbed, shows its crash points', () => points.survey())) {
      for (const [round, victims] of VICTIMS.entries())
        await check(`kill -9 of ${victims.join(', ')} while a flow of each kind is at a write of its own`, () =>
          points.hit(round, context.containersOf(victims)),
        );
      await check('each kind of flow was hit', () => points.result());
    }
    await context.plantFaults();
    const outages = outagesOf(context);
    for (const [index, { name, act }] of outages.entries()) {
      const share = Math.ceil((FLOWS * (index + 1)) / outages.length) - Math.ceil((FLOWS * index) / outages.length);
      await check(`${name}: all healthy again by itself`, () => underLoad(context, share, act));
    }
    let evidence;
    await check(`all ${context.begun} flows end, and the ledger holds what their callers were told, once`, async () => {
      evidence = await context.settle((what) => say(`waiting for ${what}`));
      return auditLedger(evidence, say);
    });
    if (evidence !== undefined)
      await check('the count notices one payment more, one less and another amount', () =>
        noticesViolations(context, evidence),
      );
  } finally {
    await context.close();
    await close(context.rig);
  }
}

/** Goes on asking for flows while `act` makes something fail and until all is healthy again, and all of them have begun. */
async function underLoad(context, flows, act) {
  const asking = (async () => {
    const asked = [];
    for (let count = 0; count < flows; count += 1) {
      asked.push(context.startFlow(context.nextNumber()));
      do await sleep(PACE_MS);
      while (context.open >= MOST_OPEN);
    }
    await Promise.all(asked);
  })();
  await sleep(LEAD_MS);
  const { open } = context;
  if (open === 0) throw new Error('no flow was under way: nothing was hit');
  const note = await act();
  await context.rig.healthy(HEALTHY_WITHIN_MS);
  await asking;
  return [`${open} flows under way at its begin`, ...(note === undefined ? [] : [note])].join('; ');
}
