import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DemoContext, RunDemo } from '../demo/context.js';
import { webhookEndpoint } from './child-env.js';
import { hostAndPort, urlOf, type StackSettings } from './settings.js';
import type { Stack } from './stack.js';

/** Runs the guided demo against the stack. Returns one sentence for each flow with a wrong outcome. */
export async function runDemo(
  stack: Stack,
  settings: StackSettings,
  signal: AbortSignal,
  print: (line: string) => void,
): Promise<readonly string[]> {
  const entry = new URL('../demo/index.js', import.meta.url);
  if (!existsSync(fileURLToPath(entry))) return ['there is no demo in this build (tools/demo/index.ts)'];
  const context: DemoContext = {
    temporal: {
      address: hostAndPort(settings, 'temporal'),
      namespace: settings.namespace,
      uiUrl: urlOf(settings, 'temporalUi'),
      cliPath: stack.temporalPath,
    },
    sandbox: { url: urlOf(settings, 'sandbox') },
    webhook: { url: urlOf(settings, 'webhook'), endpoint: webhookEndpoint(settings) },
    codec: { url: urlOf(settings, 'codec') },
    stateDir: settings.stateDir,
    env: stack.env,
    worker: { kill: () => stack.worker.kill(), start: () => stack.worker.start() },
    print,
    signal,
  };
  try {
    // Loaded only when needed, because it loads the whole client.
    const { runDemo: run } = (await import(entry.href)) as { runDemo: RunDemo };
    return (await run(context)).problems;
  } catch (error) {
    return [`the demo broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`];
  }
}
