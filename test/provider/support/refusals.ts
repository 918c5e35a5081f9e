import { expect } from 'vitest';
import { failureOf, type FakeService } from './fake-service.js';

/** Reads the faults of a refusal; anything but a refusal of which nothing was sent fails the test. */
export function refusals(service: FakeService): (call: Promise<unknown>) => Promise<readonly string[] | undefined> {
  return async (call) => {
    const before = service.requests.length;
    const error = await failureOf(call);
    expect(error).toMatchObject({ kind: 'request', failureType: 'InvalidInput', mayHaveLeft: false });
    expect(service.requests.length).toBe(before);
    return error.faults;
  };
}

/** Faults to compare with: a text as it stands, or what it must match. */
export function lines(faults: (string | RegExp)[]): unknown[] {
  return faults.map((fault) => (typeof fault === 'string' ? fault : expect.stringMatching(fault)));
}
