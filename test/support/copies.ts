const copies: object[] = [];

/** For a codec of a test: keeps what it says of a payload that was encrypted for another flow. */
export function noteCopy(fields: object): void {
  if ('encryptedFor' in fields) copies.push(fields);
}

/**
 * What was decoded since the last time that was encrypted for another flow. What is taken here is no fault in the eyes of
 * `no-leaks.ts`, so only a test that copies payloads may take it, and it must compare it with what it has copied.
 */
export function takeCopies(): object[] {
  return copies.splice(0);
}
