import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'looped-flows.json';
/** More than one worker program meets between two deploys. */
const MOST = 100;

/** Workflow ids of flows whose code did not come back, as the worker process before has left them in `stateDir`. */
export function loopedFlows(stateDir: string): string[] {
  try {
    const found: unknown = JSON.parse(readFileSync(join(stateDir, FILE), 'utf8'));
    return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : [];
  } catch {
    // None so far, or half a file: at worst a flow costs one more restart.
    return [];
  }
}

/** For the process that follows this one; the latest are kept. */
export function noteLoopedFlow(stateDir: string, workflowId: string): void {
  const kept = loopedFlows(stateDir).filter((one) => one !== workflowId);
  mkdirSync(stateDir, { recursive: true });
  const path = join(stateDir, FILE);
  writeFileSync(`${path}.new`, JSON.stringify([...kept, workflowId].slice(-MOST)));
  renameSync(`${path}.new`, path);
}
