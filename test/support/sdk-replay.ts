import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { TEST_ENCRYPTION_KEYS } from './data-converter.js';
import { bundlePath } from './temporal.js';

const SCRIPT = fileURLToPath(new URL('replay-history.mjs', import.meta.url));

/** What the SDK's own worker says against a replay of this history; empty when it replays. */
export function sdkReplay(history: History, workflowId: string): string {
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, bundlePath(), workflowId], {
    input: historyToJSON(history),
    encoding: 'utf8',
    env: { ...process.env, HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS },
    timeout: 60_000,
  });
  return status === 0 ? '' : `${status}: ${stderr}`;
}
