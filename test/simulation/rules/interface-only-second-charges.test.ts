import { beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { movements } from '../../support/payments.js';
import { beginFlow, DONE, inputOf, lostReply, sharedTime } from './context.js';

const time = sharedTime();
beforeAll(async () => {
  const profile = {
    offers: 'interface',
    reading: 'interface',
    second_charge: 'allowed',
    key_scope: 'unit',
    same_key_in_flight: 'conflict',
    replay_network_errors: true,
  } as const;
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile });
});

const FIRST = { charge: '*/charges', authorizeAndCapture: '*/authorizations', credit: '*/credits' } as const;
const TYPES = ['charge', 'authorizeAndCapture', 'credit'] as const;

describe('where nothing can be read, and a second charge under another key would be taken', () => {
  test.each(TYPES)('a %s whose reply nobody could read is sent again under its key alone', async (type) => {
    const garbage = { action: 'garbage', method: 'POST', after: true, path: FIRST[type], times: 1 } as const;
    const flow = await beginFlow(time, type, await inputOf(time, type), [garbage]);
    expect(await flow.outcome()).toMatchObject({ status: expect.stringMatching(/succeeded|captured/) });
    expect(await movements(time, flow.reference)).toEqual(DONE[type]);
  });

  test.each(TYPES)('a %s whose replies are lost is done once', async (type) => {
    const flow = await beginFlow(time, type, await inputOf(time, type), [lostReply(FIRST[type], 4)]);
    expect(await flow.outcome()).toMatchObject({ status: expect.stringMatching(/succeeded|captured/) });
    expect(await movements(time, flow.reference)).toEqual(DONE[type]);
  });
});
