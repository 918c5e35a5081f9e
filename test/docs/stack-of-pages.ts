import { sharedStack, type TestStack } from '../support/stack.js';

/** The real processes that all pages share which show commands and programs: they take seconds to begin. */
export function stackOfPages(): Promise<TestStack> {
  return sharedStack({ pendingMs: 3_600_000, webhook: false, real: true, riskUnit: true });
}
