import { expect, test } from 'vitest';
import { ofKind, workloadsIn } from '../support/kubernetes.js';
import { allows, type NetworkPolicy } from '../support/network-policies.js';
import { overlay, withKustomize } from '../support/rendered-overlays.js';

withKustomize('network policies', () => {
  const OUTSIDE = { ip: '203.0.113.7' };
  const METADATA = { ip: '169.254.169.254' };
  const inNamespace = (namespace: string, labels: Record<string, string> = {}) => ({ namespace, labels });
  const of = (component: string) =>
    inNamespace('holdfast', { 'app.kubernetes.io/name': 'holdfast', 'app.kubernetes.io/component': component });
  const DNS = inNamespace('kube-system', { 'k8s-app': 'kube-dns' });
  const DNS_OF_NODE = inNamespace('kube-system', { 'k8s-app': 'node-local-dns' });
  const ADDRESS_OF_NODES_DNS = { ip: '169.254.20.10' };
  const WAYS: [string, object, object, number | string, boolean][] = [
    ['webhook from the ingress', inNamespace('ingress-nginx'), of('webhook'), 'events', true],
    ['webhook from another namespace', inNamespace('shop'), of('webhook'), 'events', false],
    ['webhook from a pod beside it', of('worker-payments'), of('webhook'), 'events', false],
    ['metrics from the ingress', inNamespace('ingress-nginx'), of('webhook'), 'metrics', false],
    ['metrics from the monitoring', inNamespace('monitoring'), of('worker-billing'), 'metrics', true],
    ['codec from the ingress', inNamespace('ingress-nginx'), of('codec'), 'http', true],
    ['codec from a worker', of('worker-payments'), of('codec'), 'http', false],
    ['worker from the ingress', inNamespace('ingress-nginx'), of('worker-payments'), 'metrics', false],
    ...['worker-payments', 'worker-billing', 'webhook', 'setup'].flatMap((component): typeof WAYS => [
      [`${component} to Temporal`, of(component), inNamespace('temporal'), 7233, true],
      [`${component} to DNS`, of(component), DNS, 53, true],
      [`${component} to its node's cache of DNS`, of(component), DNS_OF_NODE, 53, true],
      [`${component} to the address of that`, of(component), ADDRESS_OF_NODES_DNS, 53, true],
      [`${component} to that by another port`, of(component), ADDRESS_OF_NODES_DNS, 8080, false],
      [`${component} to a cloud's metadata as DNS`, of(component), METADATA, 53, false],
      [`${component} to a cloud's metadata`, of(component), METADATA, 443, false],
      [`${component} to another pod`, of(component), inNamespace('shop'), 443, false],
      [`${component} to the payment service`, of(component), OUTSIDE, 443, component !== 'setup'],
      [`${component} out by another port`, of(component), OUTSIDE, 25, false],
    ]),
    ['codec to Temporal', of('codec'), inNamespace('temporal'), 7233, false],
    ['codec out', of('codec'), OUTSIDE, 443, false],
  ];
  const policiesOf = (name: string) => ofKind<NetworkPolicy>(overlay(name), 'NetworkPolicy').map(({ spec }) => spec);
  test.each(WAYS)('%s', (_way, from, to, port, isOpen) => {
    expect(allows(policiesOf('production'), { from, to, port, home: 'holdfast' })).toBe(isOpen);
  });

  test('everything of the demo may ask every kind of DNS', () => {
    const home = ofKind(overlay('demo'), 'Deployment')[0]?.metadata.namespace ?? '';
    for (const { labels } of workloadsIn(overlay('demo')))
      for (const to of [DNS, DNS_OF_NODE, ADDRESS_OF_NODES_DNS])
        expect(allows(policiesOf('demo'), { from: { namespace: home, labels }, to, port: 53, home })).toBe(true);
  });
});
