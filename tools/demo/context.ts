/** What the stack that runs the demo passes to it. */
export interface DemoContext {
  temporal: {
    /** host:port */
    address: string;
    namespace: string;
    /** Base URL of Temporal UI. */
    uiUrl: string;
    /** Temporal CLI of this stack, used in the printed commands. Default: `temporal`. */
    cliPath?: string;
  };
  sandbox: { url: string };
  webhook: {
    url: string;
    /** URL to which this stack's sandbox delivers events. */
    endpoint: string;
  };
  codec: { url: string };
  /** The page for people. */
  console: { url: string };
  /** Absolute path. */
  stateDir: string;
  /** Environment of the stack's processes: Temporal's address, business units, encryption keys. Never print it. */
  env: NodeJS.ProcessEnv;
  worker: ControlledProcess;
  /** Prints one line for the user. */
  print(line: string): void;
  /** Aborted when the stack is stopping, which ends the demo. */
  signal: AbortSignal;
}

/** A process of the stack that the demo may kill. */
interface ControlledProcess {
  /** Sends SIGKILL. Resolves when the process has ended; it stays down until `start`. */
  kill(): Promise<void>;
  /** Resolves when the process serves again. */
  start(): Promise<void>;
}

export interface DemoResult {
  /** One sentence for each flow with a wrong outcome. The demo succeeded if empty. */
  problems: readonly string[];
}

/** Type of `runDemo` in `tools/demo/index.ts`. */
export type RunDemo = (context: DemoContext) => Promise<DemoResult>;

/** URL of a workflow in Temporal UI. */
export function workflowLink(
  { temporal }: Pick<DemoContext, 'temporal'>,
  workflowId: string,
  namespace = temporal.namespace,
): string {
  return `${temporal.uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
