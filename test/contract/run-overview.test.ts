import { forEveryFrontier } from './suites/every-frontier.ts';
import { describeRunOverview } from './suites/run-overview.contract.ts';

forEveryFrontier(describeRunOverview);
