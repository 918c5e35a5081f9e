import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../src/client/index.js';
import type { SandboxControl } from '../../sandbox/control.js';
import type { CrashAnswer, Journey, Question } from './crash-paths.js';

type LedgerEntry = Awaited<ReturnType<SandboxControl['ledger']>>[number];

/** A journey and the last answer to each of its questions, as far as its caller has come. */
export interface Told {
  readonly journey: Journey;
  readonly answers: readonly CrashAnswer[];
  /** What was heard last of a question that had no answer in time. */
  readonly last?: unknown;
  /** Set when a call failed in a way that asking again does not mend. */
  readonly error?: unknown;
}

const ASK_AGAIN_MS = 250;

/**
 * Puts the questions in turn, each until it has its answer: an engine that is away, and an answer that is not known
 * yet, mean "ask the same again", and nothing else does.
 */
export async function askInTurn(journey: Journey, limitMs: number): Promise<Told> {
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
 * Compares what callers were told with all that the payment service has in its books. One sentence per difference;
 * empty when each question was answered, and made its one transaction, and nothing else moved.
 */
export function differencesFromBooks(told: readonly Told[], ledger: readonly LedgerEntry[]): string[] {
  const claimed = new Set(told.flatMap(({ journey, answers }) => paymentOf(journey, answers) ?? []));
  const uninvited = ledger.filter((entry) => !claimed.has(entry.payment_id));
  return [
    ...told.flatMap((one) =>
      differencesOf(one, ledger).map((difference) => `${one.journey.workflowId}: ${difference}`),
    ),
    ...uninvited.map((entry) => `payment ${entry.payment_id}: nobody asked for ${show(entry)}`),
  ];
}

function differencesOf({ journey, answers, error, last }: Told, ledger: readonly LedgerEntry[]): string[] {
  const paymentId = paymentOf(journey, answers);
  const entries = ledger.filter((entry) => entry.payment_id === paymentId);
  const booked = entries.map(show);
  if (error !== undefined) {
    const got = error instanceof Error ? error.message : JSON.stringify(error);
    return [`the caller got an error, the books have ${booked.join(' and ')}: ${got}`];
  }
  const due = [...journey.before, ...journey.questions].map(({ makes, amount }) => `${makes} Succeed ${amount} USD`);
  const wrong =
    booked.join() === due.join() ? [] : [`the books have ${booked.join(' and ')}, not ${due.join(' and ')}`];
  return [...wrong, ...journey.questions.flatMap((question, index) => lies(question, answers[index], entries, last))];
}

function lies(
  question: Question,
  answer: CrashAnswer | undefined,
  entries: readonly LedgerEntry[],
  last: unknown,
): string[] {
  const { makes, amount, wanted } = question;
  if (answer === undefined) return [`the ${makes} was never answered, last with ${JSON.stringify(last)}`];
  if (!isAnswered(question, answer)) return [`the ${makes} was answered ${answer.status}, not ${wanted.join(' or ')}`];
  const { authorizationId, transactionId } = answer;
  const told = makes === 'authorization' ? (authorizationId ?? transactionId) : transactionId;
  const entry = entries.find(({ kind }) => kind === makes);
  return [
    ...(told === entry?.transaction_id ? [] : [`the ${makes} was told as ${told}, it is ${entry?.transaction_id}`]),
    ...(answer.amount === amount ? [] : [`the ${makes} was told over ${answer.amount}, not ${amount}`]),
    ...(answer.currency === entry?.currency ? [] : [`the ${makes} was told in ${answer.currency}`]),
  ];
}

/** Of a journey that no answer names yet, by its own name. */
function paymentOf({ name }: Journey, answers: readonly CrashAnswer[]): string {
  return answers.find(({ paymentId }) => paymentId !== undefined)?.paymentId ?? name;
}

function show({ kind, status, amount, currency }: LedgerEntry): string {
  return `${kind} ${status} ${amount} ${currency}`;
}
