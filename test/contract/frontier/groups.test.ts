import { forEveryFrontier } from '../suites/frontier/every-frontier.ts';
import { describeGroupInputs } from '../suites/frontier/group-inputs.contract.ts';
import { describeGroups } from '../suites/frontier/groups.contract.ts';

forEveryFrontier((name, open) => describeGroups(name, open));
forEveryFrontier((name, open) => describeGroupInputs(name, open));
