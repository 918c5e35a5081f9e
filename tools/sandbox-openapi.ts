import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { openApiDocument } from '../sandbox/openapi/document.js';

/** `docs/sandbox-openapi.json`: what the sandbox answers to `GET /openapi.json`, but for its own address. */
async function renderOpenApi(): Promise<string> {
  return await format(JSON.stringify(openApiDocument('1.3.0')), { parser: 'json', printWidth: 120 });
}

async function main(): Promise<void> {
  const path = resolve(fileURLToPath(new URL('../../docs/sandbox-openapi.json', import.meta.url)));
  const text = await renderOpenApi();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  if (process.argv.includes('--check')) {
    process.stderr.write('docs/sandbox-openapi.json is not what the sandbox answers: run npm run openapi\n');
    process.exitCode = 1;
  } else writeFileSync(path, text);
}

await main();
