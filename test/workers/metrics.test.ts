import { expect, test } from 'vitest';
import { chargeInput } from '../support/charges.js';
import { documentedMetrics, servedMetrics } from '../support/documented-metrics.js';
import { startStack } from '../support/stack.js';
import { until } from '../support/until.js';

test('a worker exports the metrics of docs/metrics.md with their labels, and all in the units that they name', async () => {
  const stack = await startStack({
    real: true,
    billing: true,
    webhook: false,
    workerEnv: { HOLDFAST_LOG_LEVEL: 'info' },
  });
  try {
    await stack.holdfast.charge(await chargeInput(stack.sandbox));
    const scrape = async (): Promise<string> => await (await fetch(new URL('/metrics', stack.worker().url))).text();
    await until(async () => (await scrape()).includes('holdfast_settled_by'), Boolean);
    const text = await scrape();
    const always = ['build', 'environment'];
    const told = documentedMetrics()
      // This worker has no build id.
      .filter(({ process, name }) => process === 'worker' && name !== 'holdfast_deployment_versions')
      .map(({ name, kind, labels }) => ({ name, kind, labels: [...labels, ...always].toSorted() }));
    const served = servedMetrics(text).map((metric) => ({ ...metric, labels: metric.labels.toSorted() }));
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
    expect(served.toSorted(byName)).toEqual(told.toSorted(byName));

    // What is lost before the flow that sends it has it counts at the flow that told it.
    const givenUp = [...text.matchAll(/^holdfast_notifications_given_up_total\{(.*)\} 0$/gm)].map(([, labels = '']) =>
      ['taskQueue', 'workflowType'].map((name) => new RegExp(`${name}="(\\w[\\w-]*)"`).exec(labels)?.[1]).join(' '),
    );
    const ofPayments = ['analyseRisk', 'authorizeAndCapture', 'charge', 'credit', 'notifications', 'paymentActions'];
    expect(givenUp.toSorted()).toEqual(
      [
        ...['charge', 'subscription'].map((type) => `holdfast-billing ${type}`),
        ...[...ofPayments, 'resolvePending', 'storeCard'].map((type) => `holdfast ${type}`),
      ].toSorted(),
    );

    const ofSdk = [...text.matchAll(/^# TYPE (temporal_\w+) (\w+)$/gm)].map(([, name = '', kind = '']) => ({
      name,
      kind,
    }));
    expect(ofSdk.map(({ name }) => name)).toContain('temporal_workflow_task_schedule_to_start_latency_seconds');
    const wrong = ofSdk.filter(
      ({ name, kind }) => (kind === 'counter') !== name.endsWith('_total') || name.endsWith('_milliseconds'),
    );
    expect(wrong).toEqual([]);
    const series = text.split('\n').filter((line) => line.startsWith('temporal_'));
    expect(series.filter((line) => !/environment="test"/.test(line) || !/build="none"/.test(line))).toEqual([]);
    // A charge that took a fraction of a second: in milliseconds it would be above 1.
    const sum = /^temporal_workflow_endtoend_latency_seconds_sum\{.*\} ([\d.]+)$/m.exec(text)?.[1];
    expect(Number(sum)).toBeLessThan(10);
  } finally {
    await stack.close();
  }
});
