import { describe } from 'vitest';
import { kustomize, type Manifest, render } from './kubernetes.js';

const renderer = kustomize();
if ('problem' in renderer)
  process.stderr.write(`What kustomize renders is NOT checked, skipped: ${renderer.problem}\n`);
const command = 'command' in renderer ? renderer.command : [];
export const withKustomize = 'command' in renderer ? describe : describe.skip;
const rendered = new Map<string, Manifest[]>();
export const overlay = (name: string): Manifest[] => {
  if (!rendered.has(name)) rendered.set(name, render(command, `overlays/${name}`).manifests);
  return rendered.get(name) ?? [];
};
