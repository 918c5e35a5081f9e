import { setTimeout as sleep } from 'node:timers/promises';

const SOON_MS = 25;
const SELDOM_MS = 250;

/** Asks again until the answer is wanted, ever less often. Throws with the last answer once `limitMs` is over. */
export async function until<T>(ask: () => Promise<T>, wanted: (answer: T) => boolean, limitMs = 30_000): Promise<T> {
  const end = Date.now() + limitMs;
  for (let tries = 1; ; tries += 1) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`Still not so after ${limitMs} ms: ${JSON.stringify(answer)}`);
    await sleep(Math.min(SOON_MS * tries, SELDOM_MS));
  }
}
