import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'undici';
import { percentile, runJobs } from '../support/stats.js';
import type { SignedRequest } from './requests.js';

export interface Load {
  perSecond: number;
  p50: number;
  p99: number;
  /** Number of answers by HTTP status. */
  statuses: ReadonlyMap<number, number>;
}

async function post(pool: Pool, { body, headers }: SignedRequest): Promise<number> {
  const answer = await pool.request({ method: 'POST', path: '/webhooks', headers, body });
  await answer.body.dump();
  return answer.statusCode;
}

function summary(statuses: Map<number, number>, took: readonly number[], seconds: number): Load {
  return { perSecond: took.length / seconds, p50: percentile(took, 50), p99: percentile(took, 99), statuses };
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
  const took: number[] = [];
  const begun = performance.now();
  const underWay: Promise<void>[] = [];
  for (const [index, request] of requests.entries()) {
    const due = begun + (index * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    underWay.push(
      post(pool, request).then((status) => {
        took.push(performance.now() - due);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 200) accepted?.(request);
      }),
    );
  }
  await Promise.all(underWay);
  return summary(statuses, took, (performance.now() - begun) / 1000);
}
