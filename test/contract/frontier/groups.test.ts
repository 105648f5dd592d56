import { forEveryFrontier } from '../suites/frontier/every-frontier.ts';
import { describeGroups } from '../suites/frontier/groups.contract.ts';

forEveryFrontier((name, open) => describeGroups(name, open));
