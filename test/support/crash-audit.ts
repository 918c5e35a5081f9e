import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../src/client/index.js';
import type { Outcome } from '../../src/contract/messages.js';
import { auditOperation } from '../../tools/audit/audit-payments.js';
import { describeEntries, describeEntry, differencesFromExpected, type LedgerEntry } from '../../tools/audit/ledger.js';
import { newPaymentRecord } from '../../tools/audit/payment-record.js';
import type { CrashAnswer, Journey, Question } from './crash-paths.js';

/** A journey and the last answer to each of its questions, as far as its caller has come. */
export interface JourneyRecord {
  readonly journey: Journey;
  readonly answers: readonly CrashAnswer[];
  /** What was received last of a question that had no answer in time. */
  readonly last?: unknown;
  /** Set when a call failed in a way that asking again does not mend. */
  readonly error?: unknown;
}

const ASK_AGAIN_MS = 250;

/**
 * Puts the questions in turn, each until it has its answer: an engine that is away, and an answer that is not known
 * yet, mean "ask the same again", and nothing else does.
 */
export async function askInTurn(journey: Journey, limitMs: number): Promise<JourneyRecord> {
  const end = Date.now() + limitMs;
  const answers: CrashAnswer[] = [];
  for (const question of journey.questions) {
    for (let last: unknown; ;) {
      try {
        const answer = await question.ask({ waitFor: Math.max(1_000, Math.min(5_000, end - Date.now())) });
        if (isAnswered(question, answer)) {
          answers.push(answer);
          break;
        }
        last = answer;
        if (!isOpen(answer)) return { journey, answers: [...answers, answer] };
      } catch (error) {
        if (!(error instanceof HoldfastError && error.type === 'EngineUnavailable')) return { journey, answers, error };
        last = error.message;
      }
      if (Date.now() >= end) return { journey, answers, last };
      await sleep(ASK_AGAIN_MS);
    }
  }
  return { journey, answers };
}

/** Puts each question once, as long as the one before has its answer. */
export async function askOnce({ questions }: Journey): Promise<void> {
  for (const question of questions) {
    if (!isAnswered(question, await question.ask({ waitFor: '20 seconds' }))) return;
  }
}

function isAnswered({ wanted }: Question, { status }: CrashAnswer): boolean {
  return wanted.includes(status);
}

function isOpen({ status }: CrashAnswer): boolean {
  return ['pending', 'unknown', 'authorized'].includes(status);
}

/**
 * Compares the answers with the ledger of the payment service. One sentence per difference; empty when each question was
 * answered, and made its one transaction, and nothing else moved.
 */
export function auditJourneys(records: readonly JourneyRecord[], ledger: readonly LedgerEntry[]): string[] {
  const claimed = new Set(records.map(paymentOf));
  const uninvited = ledger.filter((entry) => !claimed.has(entry.payment_id));
  return [
    ...records.flatMap((record) =>
      auditJourney(record, ledger).map((difference) => `${record.journey.workflowId}: ${difference}`),
    ),
    ...uninvited.map((entry) => `payment ${entry.payment_id}: nobody asked for ${describeEntry(entry)}`),
  ];
}

function auditJourney(record: JourneyRecord, ledger: readonly LedgerEntry[]): string[] {
  const { journey, answers, error, last } = record;
  const paymentId = paymentOf(record);
  const entries = ledger.filter((entry) => entry.payment_id === paymentId);
  if (error !== undefined) {
    const got = error instanceof Error ? error.message : JSON.stringify(error);
    return [`the caller got an error, the ledger has ${describeEntries(entries)}: ${got}`];
  }
  const expected = [...journey.before, ...journey.questions].map(
    ({ makes, amount }) => `${makes} Succeed ${amount} USD`,
  );
  const { name: reference, workflowId: scenario } = journey;
  const known = { number: 0, scenario, profile: 'default', reference, amount: 0, currency: 'USD' };
  const payment = { ...newPaymentRecord(known), paymentId };
  return [
    ...differencesFromExpected(entries, expected),
    ...journey.questions.flatMap((question, index) => {
      const { makes: what, amount, wanted } = question;
      const answer = answers[index];
      if (answer === undefined) return [`the ${what} was never answered, last with ${JSON.stringify(last)}`];
      if (!isAnswered(question, answer))
        return [`the ${what} was answered ${answer.status}, not ${wanted.join(' or ')}`];
      return auditOperation(payment, { what, amount, expected: 'any', answer: answer as Outcome }, entries);
    }),
  ];
}

/** Of a journey that no answer names yet, by its own name. */
function paymentOf({ journey, answers }: JourneyRecord): string {
  return answers.find(({ paymentId }) => paymentId !== undefined)?.paymentId ?? journey.name;
}
