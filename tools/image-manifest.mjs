/**
 * For the image alone: makes what is an optional peer of the package a dependency of the image, which runs worker and
 * sandbox. Then `npm prune --omit=dev` keeps it, in the lock file's version.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootDir } from './setup/paths.mjs';

for (const [file, rootOf] of [
  ['package.json', (manifest) => manifest],
  ['package-lock.json', (lock) => lock.packages['']],
]) {
  const path = join(rootDir, file);
  const content = JSON.parse(readFileSync(path, 'utf8'));
  const root = rootOf(content);
  root.dependencies = { ...root.dependencies, ...root.peerDependencies };
  for (const name of Object.keys(root.peerDependencies)) delete root.devDependencies[name];
  delete root.peerDependencies;
  delete root.peerDependenciesMeta;
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}
