/** What is compared of a final outcome of any flow. */
interface Ended {
  status?: string;
  transactionId?: string;
  evidence?: { knownBy: string };
}

/** True of an outcome that names no transaction which the service has shown. What a person has named may be of others. */
export function saysThatNothingWasSent({ status, transactionId, evidence }: Ended): boolean {
  const isNothing = status === 'notExecuted' || status === 'declined';
  return isNothing && (transactionId === undefined || evidence?.knownBy === 'operator');
}
