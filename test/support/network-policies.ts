import { BlockList, isIP } from 'node:net';

type Labels = Readonly<Record<string, string>>;
interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: 'In'; values: string[] }[];
}
interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { port: number | string }[];
}

/** The spec of a NetworkPolicy. */
export interface NetworkPolicy {
  podSelector: Selector;
  policyTypes: ('Ingress' | 'Egress')[];
  ingress?: Rule[];
  egress?: Rule[];
}

/** A pod, or an address outside of the cluster. */
type End = { namespace: string; labels: Labels } | { ip: string };

/**
 * Whether policies of the namespace `home` let a connection pass, by the rules of Kubernetes: an end that a policy of
 * a direction selects may do there what one of its policies allows, and nothing else.
 */
export function allows(
  policies: readonly NetworkPolicy[],
  { from, to, port, home }: { from: object; to: object; port: number | string; home: string },
): boolean {
  const passes = (direction: 'Ingress' | 'Egress', mine: End, other: End): boolean => {
    if ('ip' in mine || mine.namespace !== home) return true;
    const ours = policies.filter(
      ({ policyTypes, podSelector }) => policyTypes.includes(direction) && matches(podSelector, mine.labels),
    );
    const rules = ours.flatMap(({ ingress, egress }) => (direction === 'Ingress' ? ingress : egress) ?? []);
    return ours.length === 0 || rules.some((rule) => isMeant(rule, other, port, home));
  };
  const [source, target] = [from as End, to as End];
  return passes('Egress', source, target) && passes('Ingress', target, source);
}

function isMeant({ from, to, ports }: Rule, other: End, port: number | string, home: string): boolean {
  const peers = from ?? to;
  return (
    (peers === undefined || peers.some((peer) => isPeer(peer, other, home))) &&
    (ports === undefined || ports.some((one) => one.port === port))
  );
}

function isPeer({ podSelector, namespaceSelector, ipBlock }: Peer, other: End, home: string): boolean {
  if (ipBlock !== undefined) {
    // Pods have addresses of private ranges.
    const ip = 'ip' in other ? other.ip : '10.1.2.3';
    return isWithin(ip, [ipBlock.cidr]) && !isWithin(ip, ipBlock.except ?? []);
  }
  if ('ip' in other) return false;
  const inNamespace =
    namespaceSelector === undefined
      ? other.namespace === home
      : matches(namespaceSelector, { 'kubernetes.io/metadata.name': other.namespace });
  return inNamespace && (podSelector === undefined || matches(podSelector, other.labels));
}

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
  );
}

function isWithin(ip: string, ranges: readonly string[]): boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    // A range of the other kind holds no address of this one, though the list would find `::/0` to hold all.
    if (isIP(address) === isIP(ip)) list.addSubnet(address, Number(bits), isIP(ip) === 6 ? 'ipv6' : 'ipv4');
  }
  return list.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4');
}
