import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { EnginePort } from '../../src/contract/engine-port.js';
import type { FaultInput } from '../../sandbox/control.js';
import { type AttemptInfo, Harness, ORIGINAL_RUN_ID, Service } from './support.js';

let service: Service;
let harness: Harness | undefined;
beforeAll(async () => {
  service = await Service.start();
});
afterEach(() => harness?.close());
afterAll(() => service.close());

const ERROR = { action: 'result', status: 'Failed', category: 'provider_error' } as const;
const NETWORK = { ...ERROR, category: 'provider_network_error' };
const DECLINED = { ...ERROR, category: 'payment_method_declined' };
const PENDING = { action: 'result', status: 'Pending' } as const;
const SUCCEEDED = { action: 'result', status: 'Succeed' } as const;

const LOST: Partial<EnginePort> = { taskWasLost: async () => true, inFirstTry: async () => false };
const WHOLE: Partial<EnginePort> = { taskWasLost: async () => false, inFirstTry: async () => true };
const away = () => Promise.reject(new Error('the engine is away'));
const AWAY: Partial<EnginePort> = { taskWasLost: away, inFirstTry: away };
const ATTEMPT = { workflowId: 'payment-x' };
const LOCAL = { ...ATTEMPT, isLocal: true };
const SECOND = { ...ATTEMPT, attempt: 2 };
const REFUSED = { ...SECOND, heartbeatDetails: { refusedThrough: 1 } };

test.each<[string, FaultInput, AttemptInfo, Partial<EnginePort>, boolean, boolean]>([
  ['a failure of the provider that answers the first try', ERROR, ATTEMPT, WHOLE, false, false],
  ['one of the second try', ERROR, SECOND, WHOLE, false, true],
  ['one where the first try was refused before it had left', ERROR, REFUSED, WHOLE, false, false],
  ['one where the flow knows of an earlier try', ERROR, ATTEMPT, WHOLE, true, true],
  ['one where a lost task may have sent the first try', ERROR, ATTEMPT, LOST, false, true],
  ['one where nobody can tell whether a task was lost', ERROR, ATTEMPT, AWAY, false, true],
  ['one in the first try of a task', ERROR, LOCAL, WHOLE, false, false],
  ['one in a later try of a task', ERROR, LOCAL, LOST, false, true],
  ['one in a task of which the engine can not be asked', ERROR, LOCAL, AWAY, false, true],
  ['a provider that was not reached by the second try', NETWORK, SECOND, WHOLE, false, true],
  ['what pends by the second try', PENDING, SECOND, WHOLE, false, true],
  ['what pends by the first try, for which no engine is asked', PENDING, LOCAL, AWAY, false, false],
  ['a decline that answers the second try', DECLINED, SECOND, WHOLE, false, false],
  ['a success of the second try', SUCCEEDED, SECOND, WHOLE, false, false],
])('%s', async (_name, result, info, engine, mayHaveLeft, isOpen) => {
  harness = new Harness({ baseUrl: service.sandbox.url, engine });
  const charge = await service.readyCharge({ mayHaveLeft });
  await service.plant(charge, result);
  const record = await harness.run('createCharge', charge.call, info);
  expect(record.earlierTryOpen).toBe(isOpen ? true : undefined);
});

test.each<[string, FaultInput, boolean]>([
  ['a failure of the provider', ERROR, true],
  ['a provider that was not reached', NETWORK, true],
  ['what pends', PENDING, true],
  ['a decline', DECLINED, false],
  ['a success', SUCCEEDED, false],
])('%s that the run before a reset has left', async (_name, result, isOpen) => {
  const charge = await service.readyCharge({ originalRunId: ORIGINAL_RUN_ID });
  await service.plant(charge, result);
  const earlier = new Harness({ baseUrl: service.sandbox.url });
  const { transactionId } = await earlier.run('createCharge', charge.call, { runId: ORIGINAL_RUN_ID });
  await earlier.close();
  harness = new Harness({ baseUrl: service.sandbox.url, engine: { toldEnd: async () => undefined } });
  const record = await harness.run('createCharge', charge.call);
  expect(harness.posts()).toEqual([]);
  expect(record).toMatchObject({ transactionId, status: result.status });
  expect(record.earlierTryOpen).toBe(isOpen ? true : undefined);
});
