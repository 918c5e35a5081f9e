import type { ChargeInput } from '../../src/contract/charge.js';
import type { SandboxControl } from '../../sandbox/control.js';
import { CARDS, chargeInput, newReference } from './charges.js';
import { SEED } from './seeded.js';

/** The full counts under HOLDFAST_FULL=1, else what a short run can afford. */
export function fullOr<Count>(full: Count, reduced: Count): Count {
  return process.env['HOLDFAST_FULL'] === '1' ? full : reduced;
}

/**
 * Which of many like cases a run takes: all of them at full counts, else every `nth`, beginning with each seed at another one,
 * so that none is left out for long, and the same run can be had again.
 */
export function inTurn(nth: number): (index: number) => boolean {
  const sampled = everyNth(nth);
  return (index) => fullOr(1, 0) === 1 || sampled(index);
}

/** The same for what is never taken whole. */
export function everyNth(nth: number): (index: number) => boolean {
  return (index) => index % nth === SEED % nth;
}

/** Of like cases all at full counts, else every other one. */
export function half<const Case>(cases: readonly Case[]): Case[] {
  return cases.filter((_, index) => inTurn(2)(index));
}

const DECLINED = { action: 'result', status: 'Failed', category: 'payment_method_declined' } as const;

/**
 * Charges with every ending in turn: succeeding, pending and then either way, declined. An issuer declines them: a failure at the
 * provider is in doubt for an hour where an attempt had no answer.
 */
export async function mixedCharges(sandbox: SandboxControl, count: number, prefix: string): Promise<ChargeInput[]> {
  const cards = Object.values(CARDS);
  const inputs: ChargeInput[] = [];
  for (let index = 0; index < count; index += 1) {
    const card = cards[index % cards.length];
    // Amounts differ so that an answer that belongs to another charge would show.
    const input = await chargeInput(sandbox, card, { reference: newReference(prefix), amount: 1_000 + index });
    if (card === CARDS.declines || card === CARDS.pendsThenFails)
      await sandbox.addFault({ ...DECLINED, reconciliation_id: input.reference });
    inputs.push(input);
  }
  return inputs;
}
