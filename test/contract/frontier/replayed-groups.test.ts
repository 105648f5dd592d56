import { forEveryFrontier } from '../suites/every-frontier.ts';
import { describeReplayedGroups } from '../suites/replayed-groups.contract.ts';

forEveryFrontier((name, open) => describeReplayedGroups(name, open));
