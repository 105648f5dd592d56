import { describeClock } from '../suites/clock.contract.ts';
import { forEveryFrontier } from '../suites/every-frontier.ts';
import { describeFrontier } from '../suites/frontier.contract.ts';
import { describeLeases } from '../suites/leases.contract.ts';
import { describeLinkTallies } from '../suites/link-tally.contract.ts';
import { describeQuietHosts } from '../suites/quiet-hosts.contract.ts';
import { describeRedirects } from '../suites/redirects.contract.ts';
import { describeReleasing } from '../suites/releasing.contract.ts';
import { describeRuns } from '../suites/runs.contract.ts';

const CONTRACTS = [
  describeFrontier,
  describeRuns,
  describeReleasing,
  describeQuietHosts,
  describeLeases,
  describeLinkTallies,
  describeRedirects,
  describeClock,
];

for (const contract of CONTRACTS) forEveryFrontier(contract);
