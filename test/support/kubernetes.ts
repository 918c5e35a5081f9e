import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const KUBERNETES = join(ROOT, 'deploy', 'kubernetes');

interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds: number;
  failureThreshold: number;
}

interface KeyOf {
  name: string;
  key: string;
  optional?: true;
}

/** Of a container the fields that these manifests have, and none that they may not have. */
export interface Container {
  name: string;
  image: string;
  command: string[];
  ports?: { name: string; containerPort: number }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string; optional?: true } }[];
  env?: {
    name: string;
    value?: string;
    valueFrom?: { secretKeyRef?: KeyOf; configMapKeyRef?: KeyOf };
  }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: object;
  volumeMounts?: { name: string; mountPath: string; readOnly?: true }[];
}

interface Pod {
  containers: [Container];
  serviceAccountName: string;
  automountServiceAccountToken: boolean;
  enableServiceLinks: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext: { runAsUser: number; runAsGroup: number; fsGroup: number; [more: string]: unknown };
  volumes?: {
    name: string;
    secret?: { secretName: string; defaultMode: number; optional?: true };
    emptyDir?: { sizeLimit: string };
  }[];
}

/** `Spec` says what a test reads of it. */
export interface Manifest<Spec = object> {
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec: Spec;
  data?: Record<string, string>;
}

interface WithPods {
  replicas?: number;
  template: { metadata: { labels: Record<string, string> }; spec: Pod };
}

function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

/** All manifests below a folder of deploy/kubernetes as they stand: before kustomize names and labels them. */
export function readManifests(folder: string): Manifest[] {
  return readdirSync(join(KUBERNETES, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml') && !file.endsWith('kustomization.yaml'))
    .flatMap((file) => manifestsOf(readFileSync(join(KUBERNETES, folder, file), 'utf8')));
}

/** `base/config`, a ConfigMap each: `common` is that of `holdfast-common`. */
export function readConfigMap(name: string): Record<string, string> {
  const path = join(KUBERNETES, 'base', 'config', `${name.replace('holdfast-', '')}.env`);
  const lines = readFileSync(path, 'utf8').split('\n');
  const pairs = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(pairs.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

/** The command that renders, or why there is none. It may take a minute to build it once. */
export function kustomize(): { command: string[] } | { problem: string } {
  const args = [join(ROOT, 'tools', 'kustomize-path.mjs')];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return status === 0 ? { command: JSON.parse(stdout) as string[] } : { problem: stderr.trim() };
}

/** What `kubectl apply -k` would send. @throws Error with what kustomize says */
export function render([executable = '', ...args]: string[], folder: string): { text: string; manifests: Manifest[] } {
  const path = folder.startsWith('/') ? folder : join(KUBERNETES, folder);
  const { status, stdout, stderr } = spawnSync(executable, [...args, path], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${executable} ${folder}: ${stderr}`);
  return { text: stdout, manifests: manifestsOf(stdout) };
}

export interface Workload {
  name: string;
  kind: string;
  /** What its label says: `worker-payments`, ... Empty before kustomize. */
  component: string;
  labels: Record<string, string>;
  replicas: number | undefined;
  pod: Pod;
  container: Container;
}

/** What runs pods, in the order of names. */
export function workloadsIn(manifests: readonly Manifest[]): Workload[] {
  return manifests
    .filter((manifest): manifest is Manifest<WithPods> => 'template' in (manifest.spec ?? {}))
    .map(({ kind, metadata, spec: { replicas, template } }) => ({
      ...{ name: metadata.name, kind, replicas, labels: template.metadata.labels ?? {} },
      component: template.metadata.labels?.['app.kubernetes.io/component'] ?? '',
      pod: template.spec,
      container: template.spec.containers[0],
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name));
}

export function ofKind<Spec>(manifests: readonly Manifest[], kind: string): Manifest<Spec>[] {
  return manifests.filter((manifest) => manifest.kind === kind) as Manifest<Spec>[];
}
