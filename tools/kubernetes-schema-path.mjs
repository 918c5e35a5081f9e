/**
 * Prints the path of a file with the JSON Schema of each resource of Kubernetes 1.30, the oldest that the manifests are
 * for, in which no field is allowed that it does not know. Exits with 1 and the reason on stderr if it can't be had.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir } from './setup/paths.mjs';
import { fetchPinnedBinary } from './setup/pinned-package.mjs';

const fileName = 'kubernetes-1.30-schema.json';
const pinned = {
  requirements: 'kubernetes-validate.txt',
  member: 'v1.30.0-local-strict/_definitions.json',
  fileName,
  title: 'schemas of Kubernetes 1.30',
};

const cached = join(cacheDir(), fileName);
const { path, problem } = existsSync(cached) ? { path: cached } : await fetchPinnedBinary(pinned);
if (problem) console.error(problem);
else console.log(path);
process.exitCode = problem ? 1 : 0;
