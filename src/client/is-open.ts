/** Whether a run of that status goes on. One that is paused does, as soon as somebody lets it: nobody may act in its place. */
export function isOpen({ name }: { name: string }): boolean {
  return name === 'RUNNING' || name === 'PAUSED';
}
