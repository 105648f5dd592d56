import { describeClock } from './clock.contract.ts';
import { forEveryFrontier } from './every-frontier.ts';
import { describeFrontier } from './frontier.contract.ts';
import { describeLeases } from './leases.contract.ts';
import { describeRedirects } from './redirects.contract.ts';
import { describeReleasing } from './releasing.contract.ts';

for (const contract of [describeFrontier, describeReleasing, describeLeases, describeRedirects, describeClock])
  forEveryFrontier(contract);
