import { row, type Findings } from '../campaign.js';
import { movements, type LedgerEntry } from '../ledger-check.js';
import type { Account, Told } from './account.js';
import { groupBy } from './group-by.js';
import { SCENARIOS } from './scenarios.js';

const COMMANDS = ['capture', 'void', 'refund'] as const;
const MOVEMENTS = ['charge', 'authorization', 'credit', 'capture', 'void', 'refund'] as const;

/** What was done to the payments and how each flow ended, then how each kind of command did. */
export function flowLines(
  accounts: readonly Account[],
  ledger: readonly LedgerEntry[],
): Pick<Findings, 'answerLines' | 'movementsNote'> {
  const moved = movements(ledger);
  const kinds = MOVEMENTS.map((kind) => [kind, moved.filter((entry) => entry.kind === kind).length] as const);
  return {
    answerLines: [
      'flows, and how each ended',
      ...SCENARIOS.map(({ name }) => {
        const played = accounts.filter(({ scenario, partOf }) => scenario === name && partOf === undefined);
        return row(`  ${name}`, played.length, counted(played.map(endOf)));
      }),
      'commands, and what was told',
      ...COMMANDS.map((what) => {
        const told = accounts.flatMap((account) => account.told).filter((one) => one.what === what);
        return row(`  ${what}s`, told.length, counted(told.map(answerOf)));
      }),
      ...subscriptionLines(accounts),
    ],
    movementsNote: kinds.map(([kind, count]) => `${kind} ${count}`).join(', '),
  };
}

function subscriptionLines(accounts: readonly Account[]): string[] {
  const subscriptions = accounts.flatMap(({ subscription }) => subscription ?? []);
  const ended = subscriptions.flatMap((one) => one.ended ?? []);
  const sum = (of: (one: (typeof ended)[number]) => number): number => ended.reduce((total, one) => total + of(one), 0);
  const tried = subscriptions.flatMap(({ reference }) =>
    accounts.filter((account) => account.reference.startsWith(`${reference}.`)),
  );
  const commands = subscriptions.flatMap((one) => one.commands);
  const words = commands.map(({ name, refusal }) => (refusal === undefined ? name : `${name} refused`));
  return [
    row('subscriptions', subscriptions.length, counted(ended.map(({ status }) => status))),
    row(
      '  periods billed',
      sum((one) => one.billedPeriods),
      `unpaid ${sum((one) => one.unpaidPeriods)}`,
    ),
    row('  payments tried', tried.length, counted(tried.map(endOf))),
    row('  commands to them', commands.length, counted(words)),
  ];
}

function endOf({ outcome, terminated }: Account): string {
  if (outcome !== undefined) return outcome.status;
  return terminated ? 'terminated' : 'not ended';
}

function answerOf({ answer, refusal }: Told): string {
  if (refusal !== undefined) return 'refused';
  return answer?.status ?? 'not answered';
}

function counted(words: readonly string[]): string {
  const counts = groupBy(words, (word) => word);
  return [...counts].map(([word, list]) => `${word} ${list.length}`).join(', ');
}
