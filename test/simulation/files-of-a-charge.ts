import '../support/require-sources.mjs';
import { existsSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { startSimulatedTime } from './simulated-time.js';

const BUNDLE = 'dist/workflow-bundle.js';
const OWN = /^(?:src|workflows|activities|workers)\//;

interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Files of the product of which a function ran between the client's call and its answer, in one charge that succeeds: in
 * client, worker and activities, and by the bundle's source map in the workflow.
 */
export async function filesOfACharge(root: string): Promise<{ files: string[]; functions: number }> {
  const time = await startSimulatedTime();
  const input = await time.input();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  const { status } = await time.holdfast.charge(input);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  if (status !== 'succeeded') throw new Error(`The charge ended ${status}`);
  await time.close();
  const bundle = readFileSync(`${root}/${BUNDLE}`, 'utf8');
  const files = new Set<string>();
  let functions = 0;
  const add = (file: string | undefined): void => {
    // Sources of packages have such names too.
    if (file === undefined || !OWN.test(file) || !existsSync(`${root}/${file}`)) return;
    files.add(file);
    functions += 1;
  };
  for (const { url, functions: all } of result) {
    const ran = all.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0);
    if (url.includes('workflow-bundle')) {
      const original = sourcesOf(bundle);
      for (const { ranges } of ran) add(original(ranges[0]?.startOffset ?? 0));
    } else if (url.includes(`${root}/`)) {
      const path = url.slice(url.indexOf(`${root}/`) + root.length + 1);
      for (const _ of ran) add(path);
    }
  }
  return { files: [...files].toSorted(), functions };
}

/** Which file of ours a place in the bundle was compiled from. */
function sourcesOf(bundle: string): (offset: number) => string | undefined {
  const encoded = bundle.slice(bundle.lastIndexOf('base64,') + 'base64,'.length).trim();
  const map = new TraceMap(Buffer.from(encoded, 'base64').toString());
  const positionOf = (offset: number): Position => {
    const before = bundle.slice(0, offset);
    const start = before.lastIndexOf('\n') + 1;
    return { line: before.split('\n').length, column: offset - start };
  };
  return (offset) => {
    const { source } = originalPositionFor(map, { ...positionOf(offset), bias: 1 });
    return source?.match(/(?:src|workflows)\/[^?]*\.ts/)?.[0];
  };
}
