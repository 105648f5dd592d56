import { forEveryFrontier } from '../suites/frontier/every-frontier.ts';
import { describeMissingSteps } from '../suites/frontier/missing-steps.contract.ts';

forEveryFrontier(describeMissingSteps);
