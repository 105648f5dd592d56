import { forEveryFrontier } from '../suites/every-frontier.ts';
import { describeGroups } from '../suites/groups.contract.ts';

forEveryFrontier((name, open) => describeGroups(name, open));
