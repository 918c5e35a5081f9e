import { setTimeout as sleep } from 'node:timers/promises';

/** What the sandbox's ledger holds for a reference, or in all. */
export async function ledger(rig, reference) {
  const query = reference === undefined ? '' : `?reconciliation_id=${encodeURIComponent(reference)}`;
  const { status, body } = await rig.ask('sandbox', 4010, `/sandbox/ledger${query}`);
  if (status !== 200) throw new Error(`the sandbox answered ${status} for its ledger: ${body}`);
  return JSON.parse(body);
}

/**
 * `docker compose run --rm demo`, and the ledger: it must hold one charge for it, and no other transaction.
 * @param options.needs whether to wait until what the job depends on is healthy
 * @returns the payment's reference
 */
export async function pay(rig, options = {}) {
  const { code, output } = await rig.run('demo', options);
  const [, reference] = /^payment (\S+) of 49\.99 EUR: succeeded$/m.exec(output) ?? [];
  if (code !== 0 || reference === undefined) throw new Error(`the demo ended with ${code}:\n${output}`);
  const moved = await ledger(rig, reference);
  if (moved.length !== 1 || moved[0].kind !== 'charge' || moved[0].amount !== 4999 || moved[0].status !== 'Succeed')
    throw new Error(`the ledger holds not one charge of 4999 for ${reference}: ${JSON.stringify(moved)}`);
  return reference;
}

const PORTS = { worker: 9464, webhook: 4020, codec: 4030 };

/** Waits until `/ready` of a service answers with this status. @returns its body */
export async function answers(rig, service, wanted, withinMs = 60_000) {
  const begun = Date.now();
  for (;;) {
    const { status, body } = await rig.ask(service, PORTS[service], '/ready');
    if (status === wanted) return body;
    if (Date.now() - begun > withinMs)
      throw new Error(`after ${withinMs / 1000} s /ready of ${service} answers ${status} (${body}), and not ${wanted}`);
    await sleep(500);
  }
}

/**
 * @param stops what `down` returns
 * @throws Error that names each process that did not end by itself, and each of ours that did not end with 0
 */
export function endings(stops) {
  const bad = stops.filter(({ code, isOurs }) => code === 137 || (isOurs && code !== 0));
  if (bad.length > 0)
    throw new Error(
      bad.map(({ name, ms, code, said }) => `${name} ended with ${code} after ${ms} ms:\n${said}`).join('\n'),
    );
  return stops.map(({ name, ms }) => `${name} ${(ms / 1000).toFixed(1)} s`).join(', ');
}
