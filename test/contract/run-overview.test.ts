import { forEveryFrontier } from './every-frontier.ts';
import { describeRunOverview } from './run-overview.contract.ts';

forEveryFrontier(describeRunOverview);
