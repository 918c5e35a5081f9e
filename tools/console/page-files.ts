import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';

/** Plain files, served as they are: the build copies none, so they are read from the checkout. */
const PAGE = new URL(import.meta.url.endsWith('.ts') ? './page/' : '../../../tools/console/page/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Files by name. */
let files: ReadonlyMap<string, Buffer> | undefined;

function readFiles(): ReadonlyMap<string, Buffer> {
  const names = readdirSync(fileURLToPath(PAGE)).filter((name) => TYPES[extname(name)] !== undefined);
  return new Map(names.map((name) => [name, readFileSync(new URL(name, PAGE))]));
}

/** Serves the page's files by name, and the page itself under `/`. Other files of the folder do not exist for it. */
export function servePage(server: FastifyInstance): void {
  files ??= readFiles();
  for (const [name, content] of files) {
    server.get(name === 'index.html' ? '/' : `/${name}`, async (_request, reply) =>
      reply.header('content-type', TYPES[extname(name)]).send(content),
    );
  }
}
