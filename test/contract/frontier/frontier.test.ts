import { describeClock } from '../suites/clock.contract.ts';
import { forEveryFrontier } from '../suites/frontier/every-frontier.ts';
import { describeFrontier } from '../suites/frontier/frontier.contract.ts';
import { describeLeases } from '../suites/frontier/leases.contract.ts';
import { describeLinkTallies } from '../suites/frontier/link-tally.contract.ts';
import { describeMalformedTexts } from '../suites/frontier/malformed-texts.contract.ts';
import { describeRedirects } from '../suites/frontier/redirects.contract.ts';
import { describeReleasing } from '../suites/frontier/releasing.contract.ts';
import { describeQuietHosts } from '../suites/hosts/quiet-hosts.contract.ts';
import { describeRuns } from '../suites/runs.contract.ts';

const CONTRACTS = [
  describeFrontier,
  describeMalformedTexts,
  describeRuns,
  describeReleasing,
  describeQuietHosts,
  describeLeases,
  describeLinkTallies,
  describeRedirects,
  describeClock,
];

for (const contract of CONTRACTS) forEveryFrontier(contract);
