import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { converterPaths } from '../src/security/data-converter.js';

/** Bundles the workflows into one text that any worker of this exact SDK version can load. */
export async function bundleWorkflows(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    logger: new DefaultLogger('WARN'),
    workflowsPath: workflowFile('index'),
    preloadModules: [workflowFile('preload')],
    ...converterPaths(),
  });
  return code;
}

/** The prebuilt bundle beside the compiled code, if there is one. */
export function builtBundlePath(): string | undefined {
  const path = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  return existsSync(path) ? path : undefined;
}

/** Path of a compiled file, or of a source in tests: the same relative path in both cases. */
function workflowFile(name: string): string {
  const extension = extname(fileURLToPath(import.meta.url));
  return fileURLToPath(new URL(`../workflows/${name}${extension}`, import.meta.url));
}

// Run as a program by the build: node dist/workers/bundle-workflows.js <output file>
const [, program, output] = process.argv;
if (program === fileURLToPath(import.meta.url) && output !== undefined)
  await writeFile(output, await bundleWorkflows());
