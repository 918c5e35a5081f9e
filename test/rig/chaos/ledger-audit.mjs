import { violations } from '../../../dist/tools/chaos/summary.js';
import { movements } from '../../../dist/tools/audit/ledger.js';

/**
 * Prints how the flows have ended.
 * @returns what the ledger holds
 * @throws Error that names each difference between answers and ledger, each flow that is open or failing, and each lost event
 */
export function auditLedger({ findings, ledger, faults, events, flows, settledForMs }, say) {
  for (const line of findings.answerLines) say(line);
  for (const { label, count } of faults) say(`${label}: ${count}`);
  const found = violations({ findings, events, flows });
  if (found.length > 0) throw new Error(found.join('\n'));
  const moved = movements(ledger).length;
  return `final ${(settledForMs / 1000).toFixed(0)} s after the last fault; ${ledger.length} transactions, ${moved} movements of money (${findings.movementsNote}), no difference`;
}

/** Whether the comparison can fail: it must name what is planted into a copy of the ledger. */
export function noticesViolations({ campaign }, { ledger }) {
  const at = ledger.findIndex(({ kind, status }) => kind === 'charge' && status === 'Succeed');
  const charge = ledger[at];
  const wrong = {
    'one more': [...ledger, { ...charge, transaction_id: `${charge.transaction_id}-again` }],
    'one less': ledger.toSpliced(at, 1),
    'another amount': ledger.with(at, { ...charge, amount: charge.amount + 1 }),
  };
  for (const [what, planted] of Object.entries(wrong))
    if (!campaign.findings(planted).differences.some((one) => one.startsWith(charge.reconciliation_id)))
      throw new Error(`${what}: no difference is named for ${charge.reconciliation_id}`);
}
