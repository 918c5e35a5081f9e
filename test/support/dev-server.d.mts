/** Types for `dev-server.mjs`, which must be plain JavaScript because it runs before anything is built. */
export function startDevServer(options: {
  executable: string;
  /** Where the database and the log go. */
  folder: string;
  /** At least one. */
  namespaces: readonly string[];
}): Promise<{ address: string; pid: number }>;

export function endServer(pid: number): boolean;
