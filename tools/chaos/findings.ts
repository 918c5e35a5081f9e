import { auditPayments } from '../audit/audit-payments.js';
import { groupBy, movements, type LedgerEntry } from '../audit/ledger.js';
import type { Operation, PaymentRecord } from '../audit/payment-record.js';

const COMMANDS = ['capture', 'void', 'refund'] as const;
const MOVEMENTS = ['charge', 'authorization', 'credit', 'capture', 'void', 'refund'] as const;
/** Currencies of two, no and three decimals: mistaking one for another changes an amount by a factor of ten or more. */
const CURRENCIES = ['USD', 'JPY', 'KWD'] as const;
const LABEL_WIDTH = 36;

/** Results of all flows of a run. */
export interface Findings {
  asked: number;
  /** Lines of the summary: requests, and then answers. */
  askedLines: readonly string[];
  answerLines: readonly string[];
  /** Printed beside the number of movements. */
  movementsNote: string;
  /** One sentence per difference, beginning with the reference. */
  differences: readonly string[];
  /** Merchant references of the flows. */
  references: readonly string[];
  slowest?: { ms: number; reference: string };
}

/** Currencies alternate by flow number and shift after every `turn` flows, so that each unit meets all of them. */
export function currencyOf(number: number, turn: number): string {
  return CURRENCIES[(number + Math.floor(number / turn)) % CURRENCIES.length] ?? CURRENCIES[0];
}

/** Whether a flow was started with this payment. The other records are further payments of its scenario. */
export function isFirst({ partOf }: PaymentRecord): boolean {
  return partOf === undefined;
}

/** Compares the records with the ledger, and counts them by unit and scenario. */
export function findingsOf(
  records: readonly PaymentRecord[],
  ledger: readonly LedgerEntry[],
  { units, scenarios }: { units: readonly { name: string }[]; scenarios: readonly { name: string }[] },
): Findings {
  const flows = records.filter(isFirst);
  const slowest = flows
    .map(({ reference, begunAt, endedAt }) => ({ reference, ms: (endedAt ?? begunAt) - begunAt }))
    .reduce<Findings['slowest']>((most, one) => (most === undefined || one.ms > most.ms ? one : most), undefined);
  const moved = movements(ledger);
  return {
    asked: flows.length,
    askedLines: [
      'spread over the profiles of the service',
      ...units.map(({ name }) => row(`  ${name}`, flows.filter(({ profile }) => profile === name).length)),
      'in currencies of two, no and three decimals',
      ...CURRENCIES.map((code) => row(`  ${code}`, flows.filter(({ currency }) => currency === code).length)),
    ],
    answerLines: [
      'flows, and how each ended',
      ...scenarios.map(({ name }) => {
        const ofScenario = flows.filter(({ scenario }) => scenario === name);
        return row(`  ${name}`, ofScenario.length, counted(ofScenario.map(endOf)));
      }),
      'commands, and what was told',
      ...COMMANDS.map((what) => {
        const given = records.flatMap(({ operations }) => operations).filter((one) => one.what === what);
        return row(`  ${what}s`, given.length, counted(given.map(answerOf)));
      }),
      ...subscriptionLines(records),
    ],
    movementsNote: MOVEMENTS.map((kind) => `${kind} ${moved.filter((one) => one.kind === kind).length}`).join(', '),
    differences: auditPayments(records, ledger),
    references: records.map(({ reference }) => reference),
    ...(slowest !== undefined && { slowest }),
  };
}

/** A line of the summary: label, number and optional text. */
export function row(label: string, value: number | string, note = ''): string {
  return `${label.padEnd(LABEL_WIDTH)}${String(value).padStart(8)}${note === '' ? '' : `   ${note}`}`;
}

function subscriptionLines(records: readonly PaymentRecord[]): string[] {
  const subscriptions = records.flatMap(({ subscription }) => subscription ?? []);
  const ended = subscriptions.flatMap((one) => one.ended ?? []);
  const sum = (of: (one: (typeof ended)[number]) => number): number => ended.reduce((total, one) => total + of(one), 0);
  const tried = subscriptions.flatMap(({ reference }) =>
    records.filter((record) => record.reference.startsWith(`${reference}.`)),
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

function endOf({ outcome, terminated, neverStarted }: PaymentRecord): string {
  if (outcome !== undefined) return outcome.status;
  if (neverStarted === true) return 'never started';
  return terminated ? 'terminated' : 'not ended';
}

function answerOf({ answer, refusal }: Operation): string {
  if (refusal !== undefined) return 'refused';
  return answer?.status ?? 'not answered';
}

function counted(words: readonly string[]): string {
  const counts = groupBy(words, (word) => word);
  return [...counts].map(([word, list]) => `${word} ${list.length}`).join(', ');
}
