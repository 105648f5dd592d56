import { forEveryFrontier } from '../suites/frontier/every-frontier.ts';
import { describeStepFailures } from '../suites/frontier/step-failures.contract.ts';

forEveryFrontier(describeStepFailures);
