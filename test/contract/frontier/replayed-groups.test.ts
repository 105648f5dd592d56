import { forEveryFrontier } from '../suites/frontier/every-frontier.ts';
import { describeReplayedGroups } from '../suites/frontier/replayed-groups.contract.ts';

forEveryFrontier((name, open) => describeReplayedGroups(name, open));
