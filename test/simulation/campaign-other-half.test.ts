import { campaignTests } from './campaign/campaign-tests.js';

campaignTests(1);
