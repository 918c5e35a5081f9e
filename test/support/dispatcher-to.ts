import { type Dispatcher, getGlobalDispatcher } from 'undici';
import { createDispatcher } from '../../src/provider/index.js';

/**
 * What calls to a service go through: the network of the simulation for a simulated one. Elsewhere not the global one,
 * which is that of another version of undici where Node's own `fetch` was first.
 */
export function dispatcherTo(url: string): Dispatcher {
  return new URL(url).hostname.endsWith('.test') ? getGlobalDispatcher() : createDispatcher();
}
