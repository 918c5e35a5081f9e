import { extname } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { converterPaths } from '../src/security/data-converter.js';

/** Bundles the workflows into one text that any worker of this exact SDK version can load. */
export async function bundleWorkflows(): Promise<string> {
  const here = fileURLToPath(import.meta.url);
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL(`../workflows/index${extname(here)}`, import.meta.url)),
    ...converterPaths(),
  });
  return code;
}

// Run as a program by the build: node dist/workers/bundle-workflows.js <output file>
const [, program, output] = process.argv;
if (program === fileURLToPath(import.meta.url) && output !== undefined)
  await writeFile(output, await bundleWorkflows());
