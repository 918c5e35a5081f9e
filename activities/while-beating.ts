import { heartbeat } from '@temporalio/activity';

/** A third of the heartbeat limit of a POST. */
const BEAT_MS = 5_000;

/** A long history takes minutes to read; a worker that dies meanwhile is noticed all the same. */
export async function whileBeating<Found>(look: () => Promise<Found>): Promise<Found> {
  const beats = setInterval(() => heartbeat(), BEAT_MS).unref();
  try {
    return await look();
  } finally {
    clearInterval(beats);
  }
}
