import { describeClock } from '../suites/clock.contract.ts';
import { forEveryFrontier } from '../suites/every-frontier.ts';
import { describeFrontier } from '../suites/frontier.contract.ts';
import { describeLeases } from '../suites/leases.contract.ts';
import { describeRedirects } from '../suites/redirects.contract.ts';
import { describeReleasing } from '../suites/releasing.contract.ts';

for (const contract of [describeFrontier, describeReleasing, describeLeases, describeRedirects, describeClock])
  forEveryFrontier(contract);
