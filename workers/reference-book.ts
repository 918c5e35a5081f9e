import { Runtime } from '@temporalio/worker';
import type { Config } from '../src/config/index.js';
import { loadPart } from '../src/config/optional-packages.js';
import { WORKER_GAUGES } from '../src/contract/metrics.js';
import type { ReferenceBook } from '../src/contract/reference-book.js';
import type { Logger } from '../src/security/logging.js';

export interface OpenReferenceBook extends ReferenceBook {
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
  const report = reporter(logger, (isUnreachable) => gauge.set(isUnreachable ? 1 : 0));
  await report(book.prepare()).catch(() => undefined);
  return {
    namespace,
    claim: (workflowId, claim) => report(book.claim(workflowId, claim)),
    notePayment: (workflowId, claim, paymentId) => report(book.notePayment(workflowId, claim, paymentId)),
    close: () => book.close(),
  };
}

/** Shows whether the book answers, by a gauge and a line in the log at each change. */
function reporter(
  logger: Logger,
  show: (isUnreachable: boolean) => void,
): <Answer>(answer: Promise<Answer>) => Promise<Answer> {
  let isUnreachable = false;
  return async (answer) => {
    try {
      const answered = await answer;
      if (isUnreachable) logger.info('The reference book answers again');
      isUnreachable = false;
      return answered;
    } catch (err) {
      if (!isUnreachable)
        logger.error({ err }, 'The reference book does not answer: no payment is created before it does');
      isUnreachable = true;
      throw err;
    } finally {
      show(isUnreachable);
    }
  };
}
