const copies: object[] = [];

/** For a codec of a test: keeps what it says of a payload that was encrypted for another flow. */
export function noteCopy(fields: object): void {
  if ('encryptedFor' in fields) copies.push(fields);
}

/** What was decoded since the last time that was encrypted for another flow: only a test that copies payloads has any. */
export function takeCopies(): object[] {
  return copies.splice(0);
}
