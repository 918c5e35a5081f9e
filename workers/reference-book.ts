import { Runtime } from '@temporalio/worker';
import type { Config } from '../src/config/index.js';
import { loadPart } from '../src/config/optional-packages.js';
import { WORKER_GAUGES } from '../src/contract/metrics.js';
import type { ReferenceBook } from '../src/contract/reference-book.js';
import { describeError, type Logger } from '../src/security/logging.js';

export interface OpenReferenceBook extends ReferenceBook {
  /** Why it can't be used, as the last call to it has found, in a sentence; undefined if it can. */
  fault(): string | undefined;
  /** Asks whether it can be used, for `fault`. Does not reject. */
  look(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the reference book that the configuration names. One that can't be reached is tried again with each claim;
 * until then no payment is created.
 * @throws MissingPackageError
 */
export async function openReferenceBook(
  { referenceBookUrl: url, environment }: Pick<Config, 'referenceBookUrl' | 'environment'>,
  namespace: string,
  logger: Logger,
): Promise<OpenReferenceBook | undefined> {
  const gauge = Runtime.instance().metricMeter.createGauge(WORKER_GAUGES.referenceBookUnreachable);
  gauge.set(0);
  if (url === undefined) return undefined;
  const { PostgresReferenceBook } = await loadPart(
    'HOLDFAST_REFERENCE_BOOK_URL',
    ['pg'],
    async () => await import('../src/reference-book/postgres.js'),
  );
  const book = new PostgresReferenceBook({ url, environment, namespace });
  let fault: string | undefined;
  const report = async <Answer>(asked: Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await asked;
      if (fault !== undefined) logger.info('The reference book can be used again');
      fault = undefined;
      return answer;
    } catch (err) {
      if (fault === undefined)
        logger.error({ err }, "The reference book can't be used: no payment is created before it can");
      fault = `the reference book can't be used, and no payment is created before it can: ${describeError(err).message}.`;
      throw err;
    } finally {
      gauge.set(fault === undefined ? 0 : 1);
    }
  };
  const look = async (): Promise<void> => await report(book.check()).catch(() => undefined);
  await look();
  return {
    namespace,
    claim: (workflowId, claim) => report(book.claim(workflowId, claim)),
    ownerOf: (workflowId, claim) => report(book.ownerOf(workflowId, claim)),
    notePayment: (workflowId, claim, paymentId) => report(book.notePayment(workflowId, claim, paymentId)),
    fault: () => fault,
    look,
    close: () => book.close(),
  };
}
