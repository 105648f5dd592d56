import { forEveryFrontier } from '../suites/every-frontier.ts';
import { describeStepFailures } from '../suites/step-failures.contract.ts';

forEveryFrontier(describeStepFailures);
