import { rootDir } from '../../tools/setup/paths.mjs';
import { run } from './run.mjs';

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `1m20s` in ms. */
export function durationMs(text) {
  return [...String(text).matchAll(/([\d.]+)(ms|[hms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * MS[unit], 0);
}

/**
 * The compose file as Compose resolves it, with nothing of this shell's environment.
 * @param options.env variables of the caller
 * @param options.file another file than the repository's
 * @param options.folder what paths in it are relative to
 */
export async function readCompose({ profiles = [], env = {}, envFile, file, folder = rootDir }) {
  const args = [
    ...(file === undefined ? [] : ['--file', file, '--project-directory', folder]),
    ...(envFile === undefined ? [] : ['--env-file', envFile]),
    ...profiles.flatMap((profile) => ['--profile', profile]),
    ...['config', '--format', 'json'],
  ];
  const found = await run(process.execPath, ['tools/compose-path.mjs'], { cwd: rootDir });
  if (found.code !== 0) throw new Error(found.output);
  const [executable, ...first] = JSON.parse(found.stdout);
  const { PATH, HOME } = process.env;
  const result = await run(executable, [...first, ...args], { cwd: folder, env: { PATH, HOME, ...env } });
  if (result.code !== 0) throw new Error(`docker compose ${args.join(' ')}:\n${result.output}`);
  return unescaped(JSON.parse(result.stdout));
}

/** Compose prints each `$` twice, so that its output can be read as a compose file again. */
function unescaped(value) {
  if (typeof value === 'string') return value.replaceAll('$$', '$');
  if (Array.isArray(value)) return value.map(unescaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, unescaped(inner)]));
}
