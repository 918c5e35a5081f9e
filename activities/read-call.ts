import { READ_KNOWLEDGE, toApplicationFailure } from './to-application-failure.js';

/** The activity may run for 20 s: the call ends 5 s before. */
export const READ_HTTP_MS = 15_000;

/** A read: every answer is believed, and every failure leaves with its type. */
export async function readCall<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    throw toApplicationFailure(error, READ_KNOWLEDGE);
  }
}
