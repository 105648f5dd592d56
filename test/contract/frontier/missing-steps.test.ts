import { forEveryFrontier } from '../suites/every-frontier.ts';
import { describeMissingSteps } from '../suites/missing-steps.contract.ts';

forEveryFrontier(describeMissingSteps);
