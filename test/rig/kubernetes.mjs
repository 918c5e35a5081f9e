import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { rootDir } from '../../tools/setup/paths.mjs';

const BYTES = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };
const TARGETS = { holdfast: 'runtime', 'holdfast-sandbox': 'sandbox' };

/** The manifests of an overlay as they would be applied; `{ problem }` where kustomize is not to be had. */
export function renderOverlay(name) {
  const found = spawnSync(process.execPath, ['tools/kustomize-path.mjs'], {
    cwd: rootDir,
    encoding: 'utf8',
  });
  if (found.status !== 0) return { problem: found.stderr.trim() };
  const [executable, ...args] = JSON.parse(found.stdout);
  const folder = join(rootDir, 'deploy', 'kubernetes', 'overlays', name);
  const { status, stdout, stderr } = spawnSync(executable, [...args, folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${executable} ${folder}: ${stderr}`);
  return { manifests: parseAllDocuments(stdout).map((document) => document.toJS()) };
}

/**
 * The pods of rendered manifests, one of each workload, by the name under which others reach it: that of the Service which
 * selects it, or its own. `service` is what a compose file would say of it: command, variables and files of its
 * ConfigMaps and Secrets, user, rights, limits and time to stop.
 * @param folder where the files of mounted Secrets are made
 */
export function podsOf(manifests, folder) {
  const workloads = manifests.filter(({ spec }) => spec?.template !== undefined);
  return workloads.map(({ kind, metadata, spec: { template } }) => {
    const { spec: pod } = template;
    const [container] = pod.containers;
    const service = manifests.find(
      (one) => one.kind === 'Service' && isWithin(one.spec.selector, template.metadata.labels),
    );
    const { securityContext: own, resources, command, image } = container;
    return {
      name: service?.metadata.name ?? metadata.name,
      kind,
      container,
      service: {
        build: { context: rootDir, target: TARGETS[image.replace(/:[^:]*$/, '')] },
        command,
        environment: environmentOf(manifests, container),
        user: `${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`,
        read_only: own.readOnlyRootFilesystem,
        cap_drop: own.capabilities.drop,
        security_opt: own.allowPrivilegeEscalation ? [] : ['no-new-privileges:true'],
        ...mountsOf(manifests, pod, container, folder),
        deploy: { resources: { limits: { memory: String(bytesOf(resources.limits.memory)) } } },
        stop_grace_period: `${pod.terminationGracePeriodSeconds ?? 30}s`,
        restart: kind === 'Job' ? 'on-failure' : 'always',
      },
    };
  });
}

const isWithin = (selector, labels) => Object.entries(selector).every(([key, value]) => labels[key] === value);
const bytesOf = (text) => Number.parseInt(text, 10) * BYTES[text.slice(-2)];

/** In the order of Kubernetes: of `envFrom` the last one counts, and `env` before all. */
function environmentOf(manifests, { envFrom = [], env = [] }) {
  const sets = envFrom.map(({ configMapRef, secretRef }) =>
    configMapRef === undefined ? textsOf(manifests, secretRef) : dataOf(manifests, 'ConfigMap', configMapRef),
  );
  const single = env.flatMap(({ name, value, valueFrom }) => {
    if (value !== undefined) return [[name, value]];
    const { configMapKeyRef: map, secretKeyRef: secret } = valueFrom;
    const { key } = map ?? secret;
    const texts = map === undefined ? textsOf(manifests, secret) : dataOf(manifests, 'ConfigMap', map);
    return key in texts ? [[name, texts[key]]] : [];
  });
  return Object.assign({}, ...sets, Object.fromEntries(single));
}

/** @throws Error where a pod would not start for want of it */
function dataOf(manifests, kind, { name, optional }) {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined && optional !== true) throw new Error(`there is no ${kind} ${name}`);
  return found?.data ?? {};
}

function textsOf(manifests, reference) {
  const data = Object.entries(dataOf(manifests, 'Secret', reference));
  return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

/** Secrets as files of root's and the pod's group, as `fsGroup` makes them; empty folders in memory. */
function mountsOf(manifests, { volumes = [], securityContext }, { volumeMounts = [] }, folder) {
  const mounts = volumeMounts.map((mount) => ({ ...mount, ...volumes.find(({ name }) => name === mount.name) }));
  const empty = mounts.filter(({ emptyDir }) => emptyDir !== undefined);
  const secrets = mounts.filter(({ secret }) => secret !== undefined);
  const options = ({ emptyDir }) => `mode=0777,gid=${securityContext.fsGroup},size=${bytesOf(emptyDir.sizeLimit)}`;
  return {
    tmpfs: empty.map((mount) => `${mount.mountPath}:${options(mount)}`),
    volumes: secrets.map(({ mountPath, secret }) => {
      const source = join(folder, secret.secretName);
      mkdirSync(source, { recursive: true });
      for (const [name, text] of Object.entries(textsOf(manifests, { ...secret, name: secret.secretName }))) {
        const path = join(source, name);
        writeFileSync(path, text);
        chownSync(path, 0, securityContext.fsGroup);
        chmodSync(path, secret.defaultMode);
      }
      return { type: 'bind', source, target: mountPath, read_only: true };
    }),
  };
}
