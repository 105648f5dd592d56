import { forEveryFrontier } from './suites/frontier/every-frontier.ts';
import { describeRunOverview } from './suites/run-overview.contract.ts';

forEveryFrontier(describeRunOverview);
