/** Whether a run of that status goes on. One that is paused does, as soon as somebody lets it: nobody may act in its place. */
export function isOpen({ name }: { name: string }): boolean {
  return name === 'RUNNING' || name === 'PAUSED';
}

/**
 * The same for a query of lists. Not by the end time, which has no index of its own in SQL databases: each question would read
 * every closed flow.
 */
export const OPEN = 'ExecutionStatus IN ("Running", "Paused")';
