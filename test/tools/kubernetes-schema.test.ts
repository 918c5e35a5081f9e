import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { kustomize, type Manifest, render } from '../support/kubernetes.js';
import { root } from './support.js';

interface Definition {
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
}
interface Schemas {
  $id: string;
  $defs: Record<string, Definition>;
}

const found = spawnSync(process.execPath, [join(root, 'tools', 'kubernetes-schema-path.mjs')], { encoding: 'utf8' });
const renderer = kustomize();
const problem = 'problem' in renderer ? renderer.problem : found.status === 0 ? undefined : found.stderr.trim();
if (problem !== undefined)
  process.stderr.write(`The manifests for Kubernetes are NOT validated, skipped: ${problem}\n`);

describe.skipIf(problem !== undefined)('manifests are valid for Kubernetes 1.30, to the last field', () => {
  const schemas = (): Schemas => JSON.parse(readFileSync(found.stdout.trim(), 'utf8')) as Schemas;

  /** Name of the definition of a resource. */
  function definitionOf(
    { $defs }: Schemas,
    { apiVersion, kind }: Manifest & { apiVersion: string },
  ): string | undefined {
    const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    return Object.keys($defs).find((name) =>
      $defs[name]?.['x-kubernetes-group-version-kind']?.some(
        (one) => one.group === group && one.version === version && one.kind === kind,
      ),
    );
  }

  test.each(['demo', 'production', 'worker-controller'])('%s', (overlay) => {
    const read = schemas();
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    ajv.addSchema(read, 'k8s');
    const validate = (name: string, value: unknown): string[] => {
      const isValid = ajv.getSchema(`k8s#/$defs/${name}`);
      if (isValid === undefined) throw new Error(`there is no definition ${name}`);
      void isValid(value);
      return (isValid.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
      );
    };
    const { manifests } = render('command' in renderer ? renderer.command : [], `overlays/${overlay}`);
    const faults = (manifests as (Manifest<{ template?: object }> & { apiVersion: string })[]).flatMap((manifest) => {
      const name = definitionOf(read, manifest);
      const { kind, metadata, apiVersion, spec } = manifest;
      if (name !== undefined) return validate(name, manifest).map((fault) => `${kind} ${metadata.name}: ${fault}`);
      // The Worker Controller's own: what it makes pods of is Kubernetes'.
      if (apiVersion !== 'temporal.io/v1alpha1') return [`${kind} ${metadata.name}: nothing is known of ${apiVersion}`];
      return kind === 'WorkerDeployment' ? validate('io.k8s.api.core.v1.PodTemplateSpec', spec.template) : [];
    });
    expect(faults).toEqual([]);
  });
});
