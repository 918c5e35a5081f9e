import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again until the answer is wanted. Throws with the last answer once `limitMs` is over. */
export async function until<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean, limitMs = 30_000): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`Still not so after ${limitMs} ms: ${JSON.stringify(answer)}`);
    await sleep(50);
  }
}
