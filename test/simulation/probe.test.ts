import { appendFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { test } from 'vitest';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { unitsWithRisk } from '../support/reset-roads.js';
import { startSimulatedStack } from './simulated-stack.js';
import { startSimulatedTime } from './simulated-time.js';
import { commandsOf, withPlaceholders } from '../replay/conform.js';
import { EVERY_LONG_SCENARIO, EVERY_SCENARIO } from '../replay/every-scenario.js';
import { readGolden } from '../replay/golden.js';
import { decodeHistory, ms } from '../replay/decode.js';
import { nameOf } from '../replay/tasks.js';
import { Arrivals } from './arrivals.js';
import { differences, sayDifference } from '../replay/compare.js';

const RUNS: Record<string, number> = {
  'store-card-stored-with-a-customer-who-is-there': 2,
  'store-card-without-the-e-mail-for-network-tokens': 2,
  'charge-reset-to-its-first-task': 2,
  'subscription-reset-joins-its-payment': 3,
};
const AFTER: Record<string, any> = { 'authorize-captured-in-part-the-rest-voided': { 'answer capture': 'activity 4' } };
const codec = createDataConverter(parseKeyRing(TEST_ENCRYPTION_KEYS), { onCardData: 'star' }).payloadCodecs[0];
const only = process.env['ONLY'];
const out = '/tmp/conf';
mkdirSync(out, { recursive: true });
const short = (h: any) =>
  (h.events ?? []).map(
    (e: any) =>
      nameOf(e) +
      (e.activityTaskScheduledEventAttributes ? ' ' + e.activityTaskScheduledEventAttributes.activityType.name : '') +
      (e.timerStartedEventAttributes
        ? ' ' + e.timerStartedEventAttributes.timerId + ' ' + e.timerStartedEventAttributes.startToFireTimeout?.seconds
        : '') +
      (e.timerFiredEventAttributes ? ' ' + e.timerFiredEventAttributes.timerId : '') +
      (e.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest
        ? ' ' + e.workflowExecutionUpdateAcceptedEventAttributes.acceptedRequest.input.name
        : '') +
      (e.workflowExecutionSignaledEventAttributes ? ' ' + e.workflowExecutionSignaledEventAttributes.signalName : ''),
  );
async function one(name: string, run: any) {
  const cpu0 = process.cpuUsage();
  const isLong = name in EVERY_LONG_SCENARIO;
  let verdict = 'ok',
    detail: string[] = [];
  const golden = await readGolden(name);
  const arrivals = new Arrivals(golden.history, codec, {
    ...(RUNS[name] ? { ofRun: RUNS[name] } : {}),
    ...(AFTER[name] ? { answersAfter: AFTER[name] } : {}),
  });
  const more = process.env['FREE']
    ? { startAt: ms(golden.history.events![0]!.eventTime) }
    : { arrive: arrivals.rule, startAt: ms(golden.history.events![0]!.eventTime) };
  const s: any = isLong
    ? await startSimulatedTime({ billing: true, sticky: !process.env['UNCACHED'] }, more)
    : await startSimulatedStack(
        { billing: true, pendingMs: 3_600_000, workerEnv: { HOLDFAST_BUSINESS_UNITS: unitsWithRisk([]) } },
        more,
      );
  const c1 = process.cpuUsage(cpu0);
  try {
    const where = await run(s);
    const client = isLong ? s.client : s.temporal;
    const h =
      typeof where === 'string'
        ? client.workflow.getHandle(where)
        : client.workflow.getHandle(where.workflowId, where.runId);
    for (let i = 0; i < 100; i++) {
      if ((await h.describe()).status.name !== 'RUNNING') break;
      await new Promise((r) => setTimeout(r, isLong ? 3600_000 : 100));
    }
    if (arrivals.overdue.length) detail.push('OVERDUE ' + arrivals.overdue.join());
    const history = await decodeHistory(await h.fetchHistory(), codec);
    const norm = (x: any) => {
      const ids = new Map();
      return withPlaceholders(
        x.map((c: any) =>
          c.kind === 'acceptUpdate' || c.kind === 'completeUpdate'
            ? {
                ...c,
                content: {
                  ...c.content,
                  id:
                    ids.get(c.content.id) ?? (ids.set(c.content.id, 'update ' + (ids.size + 1)), ids.get(c.content.id)),
                },
              }
            : c.content.input?.[0]?.charge?.paymentMethod?.encryptedCvv
              ? ((c = structuredClone(c)), (c.content.input[0].charge.paymentMethod.encryptedCvv = 'cvv'), c)
              : c.kind === 'localActivity'
                ? { ...c, content: { ...c.content, summary: null } }
                : c,
        ),
      );
    };
    const a = norm(commandsOf(golden.history)),
      b = norm(commandsOf(history));
    writeFileSync(`${out}/${name}.golden.txt`, short(golden.history).join('\n') + '\n');
    writeFileSync(`${out}/${name}.sim.txt`, short(history).join('\n') + '\n');
    writeFileSync(`${out}/${name}.golden.json`, JSON.stringify(a, null, 1));
    writeFileSync(`${out}/${name}.sim.json`, JSON.stringify(b, null, 1));
    const kinds = (x: any) =>
      x.map((c: any) => c.kind + (c.content.activityType ? ' ' + c.content.activityType : '')).join('|');
    if (arrivals.overdue.length) detail.push('OVERDUE ' + arrivals.overdue.join());
    if (kinds(a) !== kinds(b)) verdict = 'KINDS';
    else {
      detail = detail.concat(
        a.flatMap((c, i) =>
          differences(c.content as any, b[i]!.content as any)
            .filter(
              (d) =>
                !(
                  typeof d.expected === 'number' &&
                  typeof d.actual === 'number' &&
                  /imeout|ms|waitFor/.test(d.path) &&
                  Math.abs(d.expected - d.actual) < 3000
                ),
            )
            .map((d) => `${i} ${c.kind} ${sayDifference(d)}`),
        ),
      );
      if (detail.length) verdict = 'CONTENT';
    }
  } catch (e) {
    verdict = 'ERROR';
    detail = [String((e as Error).stack)];
  }
  await s.close();
  const c2 = process.cpuUsage(cpu0);
  appendFileSync(
    `${out}/report.txt`,
    `${verdict} ${name} ${Math.round((c1.user + c1.system) / 1000)} ${Math.round((c2.user + c2.system) / 1000)}\n` +
      detail
        .slice(0, 12)
        .map((d) => '    ' + d + '\n')
        .join(''),
  );
}
for (const [name, run] of Object.entries({ ...EVERY_SCENARIO, ...EVERY_LONG_SCENARIO })) {
  if (only && !name.match(new RegExp(only))) continue;
  test(name, () => one(name, run), 60_000);
}
