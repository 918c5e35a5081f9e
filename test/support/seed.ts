import fc from 'fast-check';
import { SEED } from './seeded.js';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });
