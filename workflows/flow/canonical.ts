export { canonical } from '../../src/contract/canonical.js';
