import type { Pool } from 'undici';
import { type Percentiles, percentilesOf, runAtRate, runJobs } from '../support/stats.js';
import type { SignedRequest } from './requests.js';

export interface Load extends Percentiles {
  perSecond: number;
  /** Number of answers by HTTP status. */
  statuses: ReadonlyMap<number, number>;
}

async function post(pool: Pool, { body, headers }: SignedRequest): Promise<number> {
  const answer = await pool.request({ method: 'POST', path: '/webhooks', headers, body });
  await answer.body.dump();
  return answer.statusCode;
}

function summary(statuses: Map<number, number>, took: readonly number[], seconds: number): Load {
  return { perSecond: took.length / seconds, ...percentilesOf(took), statuses };
}

/** Sends requests as fast as the server answers, `concurrency` at a time. */
export async function closedLoad(pool: Pool, requests: readonly SignedRequest[], concurrency: number): Promise<Load> {
  const statuses = new Map<number, number>();
  const begun = performance.now();
  const took = await runJobs(requests.length, concurrency, async (index) => {
    const status = await post(pool, requests[index] as SignedRequest);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  });
  return summary(statuses, took, (performance.now() - begun) / 1000);
}

/** Sends requests at a fixed rate without waiting for answers. The time of each is measured from when it was due. */
export async function openLoad(
  pool: Pool,
  requests: readonly SignedRequest[],
  perSecond: number,
  accepted?: (request: SignedRequest) => void,
): Promise<Load> {
  const statuses = new Map<number, number>();
  const begun = performance.now();
  const took = await runAtRate(
    perSecond,
    (index) => index < requests.length,
    async (index) => {
      const request = requests[index] as SignedRequest;
      const status = await post(pool, request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 200) accepted?.(request);
    },
  );
  return summary(statuses, took, (performance.now() - begun) / 1000);
}
