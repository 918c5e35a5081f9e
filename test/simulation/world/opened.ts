import { afterEach } from 'vitest';
import { createWorld, type World, type WorldOptions } from './world.js';

let world: World | undefined;

/** Closes the world of each test of the file. */
export function closeWorlds(): void {
  afterEach(closeWorld);
}

export async function closeWorld(): Promise<void> {
  await world?.close();
  world = undefined;
}

export async function openWorld(options: Partial<WorldOptions> = {}): Promise<World> {
  world = await createWorld({ seed: 1, webhooks: false, ...options });
  return world;
}
