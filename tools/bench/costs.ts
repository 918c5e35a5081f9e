/** Prints what one flow of each kind costs: `npm run bench -- costs`. Nothing is started. */
import { flowCosts } from './support/flow-costs.js';
import { table } from './support/stats.js';

console.log(table(flowCosts()));
