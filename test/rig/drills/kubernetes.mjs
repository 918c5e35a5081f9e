import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCompose } from '../compose.mjs';
import { podsOf, renderOverlay } from '../kubernetes.mjs';

/** Where the base of the manifests looks for Temporal, which is not in it. */
const TEMPORAL = 'temporal-frontend.temporal.svc';
const WORKER = 'holdfast-worker-payments';
const NEED_TEMPORAL = ['holdfast-webhooks', 'holdfast-worker-billing', WORKER];
const READY_WITHIN_MS = 120_000;
/** Longer than preStop, shorter than the 10 s after which a first try is given up. */
const SLOW_CALL_MS = 9_000;

/** The demo overlay for Kubernetes as kustomize renders it: commands, variables, files, rights, probes, times to stop. */
export async function run({ check, open, close, say }) {
  const { manifests, problem } = renderOverlay('demo');
  if (problem !== undefined) return say(`NOT RUN, skipped: ${problem}`);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kubernetes-'));
  const all = podsOf(manifests, folder);
  const rig = await open(await modelOf(all));
  try {
    // First, since the rig writes names into a container when it makes it. Then it is cut off.
    await rig.up({ services: [TEMPORAL] });
    await rig.network.unplug(rig.container(TEMPORAL).end);
    await drill({ check, rig, pods: all.filter(({ kind }) => kind !== 'Job') });
  } finally {
    await close(rig);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With Temporal and its database as compose has them, and its client that pays. */
async function modelOf(pods) {
  const compose = await readCompose({ envFile: 'deploy/demo.env', profiles: ['demo', 'payment'] });
  const { postgres, 'temporal-schema': schema, temporal, demo } = compose.services;
  const environment = { ...demo.environment, TEMPORAL_ADDRESS: `${TEMPORAL}:7233` };
  const services = Object.fromEntries(pods.map(({ name, service }) => [name, service]));
  const others = { postgres, 'temporal-schema': schema, [TEMPORAL]: temporal };
  return { ...compose, services: { ...services, ...others, demo: { ...demo, depends_on: {}, environment } } };
}

async function drill({ check, rig, pods }) {
  /** Asks as the kubelet does: an answer that takes too long is none. */
  const probe = async ({ name, container }, { httpGet, timeoutSeconds }) => {
    const port = container.ports.find((one) => one.name === httpGet.port).containerPort;
    const begun = performance.now();
    const { status, body } = await rig.ask(name, port, httpGet.path);
    const inTime = performance.now() - begun < timeoutSeconds * 1_000;
    return { works: status >= 200 && status < 400 && inTime, said: `${httpGet.path} ${status} ${body}` };
  };
  const alive = (pod) => probe(pod, pod.container.livenessProbe);
  /** Pods whose startup probe has succeeded: before that the kubelet asks no other one. */
  const started = new Set();
  const ready = async (pod) => {
    if (!started.has(pod.name)) {
      const answer = await probe(pod, pod.container.startupProbe);
      if (!answer.works) return answer;
      started.add(pod.name);
    }
    return await probe(pod, pod.container.readinessProbe);
  };
  const waitsForTemporal = ({ container }) => container.startupProbe.httpGet.path === '/ready';

  await check('pods: each starts within the time of its startup probe, unless that waits for Temporal', async () => {
    await rig.up({ services: pods.map(({ name }) => name) });
    for (const pod of pods.filter(waitsForTemporal))
      await until(
        () => alive(pod),
        ({ works }) => works,
      );
    await Promise.all(
      pods
        .filter((pod) => !waitsForTemporal(pod))
        .map(async (pod) => {
          const { periodSeconds, failureThreshold } = pod.container.startupProbe;
          for (let failures = 0; ; failures += 1) {
            const { works, said } = await probe(pod, pod.container.startupProbe);
            if (works) return;
            if (failures >= failureThreshold)
              throw new Error(`${pod.name}: ${said}\n${rig.container(pod.name).tail()}`);
            await sleep(periodSeconds * 1_000);
          }
        }),
    );
  });
  await check(
    'probes while Temporal is away: all are alive, and those that need it say that they are not ready',
    async () => {
      for (const pod of pods) {
        expect(pod, await alive(pod), true);
        const answer = await ready(pod);
        expect(pod, answer, !NEED_TEMPORAL.includes(pod.name));
        if (!answer.works && !answer.said.includes('Temporal'))
          throw new Error(`${pod.name} does not say why: ${answer.said}`);
      }
    },
  );
  await check('setup job: it ends well, and all become ready without being started again', async () => {
    await rig.network.plugIn(rig.container(TEMPORAL).end);
    await rig.up({ services: ['holdfast-setup'] });
    const job = rig.container('holdfast-setup');
    if ((await job.ended()) !== 0) throw new Error(`the job ended with ${job.exitCode}:\n${job.tail()}`);
    for (const pod of pods) {
      await until(
        () => ready(pod),
        ({ works }) => works,
      );
      expect(pod, await alive(pod), true);
      const { starts } = rig.container(pod.name);
      if (starts !== 1) throw new Error(`${pod.name} was started ${starts} times`);
    }
  });
  await check('Temporal goes away: a webhook handler that was let in stays in', async () => {
    const [pod] = pods.filter(waitsForTemporal);
    const startup = () => probe(pod, pod.container.startupProbe);
    await rig.network.unplug(rig.container(TEMPORAL).end);
    try {
      await until(startup, ({ works }) => !works);
      await until(
        () => ready(pod),
        ({ works }) => works,
      );
    } finally {
      await rig.network.plugIn(rig.container(TEMPORAL).end);
    }
    await until(startup, ({ works }) => works);
  });
  await check('a payment is made, and what the service tells of it arrives', async () => {
    await pays(rig);
    const events = async () => (await rig.ask('holdfast-webhooks', 9465, '/metrics')).body;
    await until(async () => /^holdfast_webhook_events_total\{.*\} [1-9]/m.test(await events()), Boolean);
  });
  await check(
    'stop: a worker with a slow call is alive and not ready, and ends by itself once the call has',
    async () => {
      const fault = { method: 'POST', path: '*/charges', action: 'delay', delay_ms: SLOW_CALL_MS, times: 1 };
      const faults = (options) => rig.ask('sandbox', 4010, '/sandbox/faults', options);
      await faults({ method: 'POST', body: fault });
      const paying = pays(rig);
      // Awaited below, unless a check before fails.
      paying.catch(() => undefined);
      await until(
        async () => (await faults()).body,
        (text) => !text.includes('"times":1'),
      );
      const worker = pods.find(({ name }) => name === WORKER);
      const stopping = stop(rig, worker);
      const { said } = await until(
        () => ready(worker),
        ({ works }) => !works,
      );
      if (!said.includes('stops')) throw new Error(`it does not say that it stops: ${said}`);
      expect(worker, await alive(worker), true);
      await stopping;
      const note = endedWell(rig, WORKER);
      rig.container(WORKER).start();
      await paying;
      return note;
    },
  );
  await check('stop: every other process ends by itself within its time, and answers no probe then', async () => {
    const notes = [];
    for (const pod of pods) {
      await stop(rig, pod);
      notes.push(endedWell(rig, pod.name));
      expect(pod, await alive(pod), false);
      expect(pod, await ready(pod), false);
    }
    return notes.join(', ');
  });
}

function expect({ name }, { works, said }, wanted) {
  if (works !== wanted) throw new Error(`${name} ${wanted ? 'does not work' : 'works'}: ${said}`);
}

/** As the kubelet does: preStop comes before the signal. */
async function stop(rig, { name, container }) {
  await sleep((container.lifecycle?.preStop.sleep.seconds ?? 0) * 1_000);
  await rig.container(name).stop();
}

function endedWell(rig, name) {
  const { exitCode, lastStop } = rig.container(name);
  if (exitCode !== 0 || lastStop.killed)
    throw new Error(
      `${name} ended with ${exitCode}${lastStop.killed ? ', killed' : ''}:\n${rig.container(name).tail()}`,
    );
  return `${name} ${(lastStop.ms / 1_000).toFixed(1)} s`;
}

async function pays(rig) {
  const { code, output } = await rig.run('demo');
  if (code !== 0) throw new Error(`the payment failed:\n${output}`);
}

async function until(ask, wanted) {
  const end = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > end) throw new Error(`still not so after ${READY_WITHIN_MS / 1_000} s: ${JSON.stringify(answer)}`);
    await sleep(250);
  }
}
