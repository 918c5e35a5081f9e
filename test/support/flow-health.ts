export { countEvents, flowProblems, openFlows } from '../../scripts/attack/flow-health.js';
