import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ProfileUnit } from '../../tools/stack/profile-units.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import { API_VERSIONS, type ApiVersion } from '../../src/provider/versions.js';
import { CARDS, newReference } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { MOCK_FRIENDLY, movements } from '../support/payments.js';
import { startStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { until } from '../support/until.js';

interface VersionedUnit extends ProfileUnit {
  readonly apiVersion: ApiVersion;
}

const UNITS: readonly VersionedUnit[] = API_VERSIONS.map((apiVersion) => ({
  name: `v${apiVersion}`,
  appId: `holdfast-sandbox-${apiVersion}`,
  privateKey: `sandbox-private-key-${apiVersion}`,
  publicKey: `sandbox-public-key-${apiVersion}`,
  profile: {},
  apiVersion,
}));

const FLAT = { encoding: 'base64', xid: 'MDAwMDAw', cavv: 'AAABBZEEBgAAAAAAAAQGAAAAAAA=', eciFlag: '05' };
const NESTED = {
  external: {
    ...FLAT,
    threeDSecureVersion: '2.2.0',
    threeDSecureAuthenticationStatus: 'Y',
    dsXid: 'f25084f0-5b16-4c0a-ae5d-b24808a95e4b',
    authenticationId: 'a-1',
  },
  scaExemptions: { exemptionAction: true, requestExemptionStage: 'auth', exemptionReason: 'low_value', traScore: '7' },
};
const FLAT_WIRE = { encoding: FLAT.encoding, xid: FLAT.xid, cavv: FLAT.cavv, eci_flag: '05' };
const NESTED_WIRE = {
  external: {
    ...FLAT_WIRE,
    three_d_secure_version: '2.2.0',
    three_d_secure_authentication_status: 'Y',
    ds_xid: 'f25084f0-5b16-4c0a-ae5d-b24808a95e4b',
    authentication_id: 'a-1',
  },
  sca_exemptions: {
    exemption_action: true,
    request_exemption_stage: 'auth',
    exemption_reason: 'low_value',
    tra_score: '7',
  },
};

let stack: StackWithExpectations;
beforeAll(async () => {
  stack = withExpectations(await startStack({ pendingMs: 3_600_000, units: UNITS }));
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

type Buyer = Pick<ChargeInput, 'threeDSecureAttributes' | 'merchantSiteUrl' | 'redirectTimeLimit'>;

/** For the default unit, or another one. */
async function input(buyer: Buyer, { unit, card = CARDS.succeeds }: { unit?: VersionedUnit; card?: string } = {}) {
  const { token } = await stack.sandbox.tokenize({
    cardNumber: card,
    ...(unit !== undefined && { publicKey: unit.publicKey }),
  });
  return {
    reference: newReference(),
    amount: MOCK_FRIENDLY,
    currency: 'USD',
    paymentMethod: { type: 'tokenized' as const, token },
    ...(unit !== undefined && { businessUnit: unit.name }),
    ...buyer,
  };
}

/** What the service has been told, in its own words. */
async function wireOf(unit: VersionedUnit, path: string): Promise<unknown> {
  const headers = {
    'app-id': unit.appId,
    'private-key': unit.privateKey,
    'x-svc-env': 'test',
    'api-version': unit.apiVersion,
  };
  const answer = await fetch(new URL(path, stack.sandboxUrl), { headers });
  const [transaction] = (await answer.json()) as { three_d_secure_attributes?: unknown }[];
  return transaction?.three_d_secure_attributes;
}

/**
 * What it is refused with. A machine so busy that it loses a task answers `unknown` instead, for as long as the proof
 * takes: then another one is asked for.
 */
async function refusal(unit: VersionedUnit, given: object, how: 'charge' | 'authorize') {
  for (let tries = 1; ; tries += 1) {
    const asked = await input(given, { unit });
    const answer: unknown = await stack.holdfast[how](asked).catch((error: unknown) => ({ error }));
    const { error, status } = answer as { error?: unknown; status?: string };
    if (status !== 'unknown' || tries === 3) return { reference: asked.reference, error, status };
  }
}

describe('external 3-D Secure data', () => {
  test.each(UNITS)('of a charge and an authorization reach the service unchanged ($name)', async (unit) => {
    const [given, wire] = unit.apiVersion === '1.3.0' ? [NESTED, NESTED_WIRE] : [FLAT, FLAT_WIRE];
    const charge = await input({ threeDSecureAttributes: given }, { unit });
    const hold = await input({ threeDSecureAttributes: given }, { unit });
    const [charged, held] = await Promise.all([stack.holdfast.charge(charge), stack.holdfast.authorize(hold)]);
    expect([charged.status, held.status]).toEqual(['succeeded', 'authorized']);
    expect(await wireOf(unit, `/payments/${charged.paymentId}/charges`)).toEqual(wire);
    expect(await wireOf(unit, `/payments/${held.paymentId}/authorizations`)).toEqual(wire);
    await stack.holdfast.void(hold.reference);
  });

  test.each([
    ['1.2.0', NESTED, 'threeDSecureAttributes.external: unknown field'],
    ['1.3.0', FLAT, 'threeDSecureAttributes.cavv: unknown field'],
  ] as const)(
    'in a shape that API version %s does not take are refused, and no money moves',
    async (version, given, why) => {
      const unit = UNITS.find(({ apiVersion }) => apiVersion === version);
      if (unit === undefined) throw new Error(`No unit speaks ${version}`);
      for (const how of ['charge', 'authorize'] as const) {
        const asked = await refusal(unit, { threeDSecureAttributes: given }, how);
        expect(asked.error).toMatchObject({ type: 'InvalidInput', message: expect.stringContaining(why) });
        expect(await stack.sandbox.ledger(asked.reference)).toEqual([]);
      }
    },
  );
});

describe('a buyer who is sent to another page', () => {
  const SITE = { merchantSiteUrl: 'https://shop.example/back' };
  const PENDING = { status: 'pending', waitingFor: 'redirect', redirectUrl: expect.stringMatching(/^http/) };

  /** The page of the bank: whoever opens it has acted, and is sent back to the merchant. */
  async function visit(pending: object): Promise<void> {
    const { redirectUrl = '' } = pending as { redirectUrl?: string };
    const answer = await fetch(redirectUrl, { redirect: 'manual' });
    expect(answer.headers.get('location')).toBe(SITE.merchantSiteUrl);
  }

  test('and comes back ends the charge by its signed event', async () => {
    const charge = await input(SITE, { card: CARDS.pendsThenSucceeds });
    const pending = await stack.holdfast.charge(charge);
    expect(pending).toMatchObject(PENDING);
    expect(await stack.holdfast.status(charge.reference)).toMatchObject({ needsOperator: false });
    await visit(pending);
    const { outcome } = await until(
      () => stack.holdfast.status(charge.reference),
      (status) => status.outcome !== undefined,
    );
    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(outcome).not.toHaveProperty('redirectUrl');
  });

  test('and comes back holds the money, which can then be captured', async () => {
    const hold = await input(SITE, { card: CARDS.pendsThenSucceeds });
    const pending = await stack.holdfast.authorize(hold);
    expect(pending).toMatchObject(PENDING);
    await expect(stack.holdfast.capture(hold.reference)).rejects.toMatchObject({ type: 'StateConflict' });
    await visit(pending);
    await until(
      () => stack.holdfast.status(hold.reference),
      ({ status }) => status === 'authorized',
    );
    expect(await stack.holdfast.authorize(hold)).not.toHaveProperty('redirectUrl');
    await stack.holdfast.capture(hold.reference);
    expect(await movements(stack, hold.reference)).toEqual([
      `authorization Succeed ${MOCK_FRIENDLY} USD`,
      `capture Succeed ${MOCK_FRIENDLY} USD`,
    ]);
  });

  test('and fails there ends the authorization as declined, and nothing is held', async () => {
    const hold = await input(SITE, { card: CARDS.pendsThenFails });
    const pending = await stack.holdfast.authorize(hold);
    expect(pending).toMatchObject(PENDING);
    await visit(pending);
    const { outcome } = await until(
      () => stack.holdfast.status(hold.reference),
      (status) => status.outcome !== undefined,
    );
    expect(outcome).toMatchObject({ status: 'declined', evidence: { knownBy: 'webhook' } });
    expect(await movements(stack, hold.reference)).toEqual([`authorization Failed ${MOCK_FRIENDLY} USD`]);
  });

  test('and comes back has consented: the card is put on file, and nothing is held any more', async () => {
    const storing = {
      ...(await input(SITE, { card: CARDS.pendsThenSucceeds })),
      customer: { customerReference: newReference('customer') },
    };
    const pending = await stack.holdfast.storeCard(storing);
    expect(pending).toMatchObject(PENDING);
    await visit(pending);
    const { outcome } = await until(
      () => stack.holdfast.status(storing.reference),
      (status) => status.outcome !== undefined,
    );
    expect(outcome).toMatchObject({ status: 'stored', evidence: { knownBy: 'webhook' }, money: { status: 'voided' } });
    expect(outcome).not.toHaveProperty('redirectUrl');
  });

  test('and comes back after the time limit has paid all the same: the charge was followed on', async () => {
    const charge = await input({ ...SITE, redirectTimeLimit: '1 second' }, { card: CARDS.pendsThenSucceeds });
    const pending = await stack.holdfast.charge(charge);
    expect(pending).toMatchObject(PENDING);
    const late = await until(
      () => stack.holdfast.status(charge.reference),
      ({ needsOperator }) => needsOperator,
    );
    expect(late).toMatchObject({ status: 'pending', waitingFor: 'settlement' });
    expect(await stack.holdfast.charge(charge)).not.toHaveProperty('redirectUrl');
    await visit(pending);
    const ended = await until(
      () => stack.holdfast.status(charge.reference),
      (status) => status.outcome !== undefined,
    );
    expect(ended).toMatchObject({ status: 'succeeded', needsOperator: false });
    expect(await movements(stack, charge.reference)).toEqual([`charge Succeed ${MOCK_FRIENDLY} USD`]);
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
