/** What the guided demo gets from the stack that runs it. */
export interface DemoContext {
  temporal: {
    /** host:port */
    address: string;
    namespace: string;
    /** Base address of Temporal UI. */
    uiUrl: string;
    /** The Temporal CLI of this stack, for the commands that are printed. Default: `temporal`. */
    cliPath?: string;
  };
  sandbox: { url: string };
  webhook: {
    url: string;
    /** Where the sandbox of this stack delivers its events. */
    endpoint: string;
  };
  codec: { url: string };
  /** Absolute path. */
  stateDir: string;
  /** The environment of the stack's processes: Temporal's address, business units, encryption keys. Never print it. */
  env: NodeJS.ProcessEnv;
  worker: ControlledProcess;
  /** One line for the person who watches. */
  print(line: string): void;
  /** Aborted when the stack is being stopped: the demo gives up. */
  signal: AbortSignal;
}

/** A process of the stack that the demo may take down. */
interface ControlledProcess {
  /** SIGKILL; resolves when it is gone. It stays down until `start`. */
  kill(): Promise<void>;
  /** Resolves when it serves again. */
  start(): Promise<void>;
}

export interface DemoResult {
  /** One sentence for each flow that did not end as it should. None: the demo succeeded. */
  problems: readonly string[];
}

/** What `tools/demo/index.ts` exports as `runDemo`. */
export type RunDemo = (context: DemoContext) => Promise<DemoResult>;

/** Link to a workflow in Temporal UI. */
export function workflowLink(
  { temporal }: Pick<DemoContext, 'temporal'>,
  workflowId: string,
  namespace = temporal.namespace,
): string {
  return `${temporal.uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
