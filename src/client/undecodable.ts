/** Another process, which has the key, can read it. */
export class UndecodableError extends Error {}
