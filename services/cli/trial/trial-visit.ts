import { runOptionsOf } from '../../../shared/control/run-options.ts';
import { secretsFrom } from '../../../shared/crawler/around/secrets.ts';
import type { LoadedCrawler } from '../../../shared/crawler/loading/load.ts';
import { readEnvironment } from '../../../shared/settings/settings.ts';
import type { Settings } from '../../../shared/settings/table.ts';
import { type AboutOffer, offerOf } from '../../../shared/task/task/offer.ts';
import type { Logins } from '../../../shared/task/url/logins.ts';
import type { CrawlUrl } from '../../../shared/task/url/url.ts';
import { routingRulesOf } from '../../process/routing-rules.ts';
import type { Visit } from '../../worker/pipeline/visit.ts';

interface TrialOf {
  readonly settings: Settings;
  readonly loaded: Pick<LoadedCrawler, 'crawler' | 'version'>;
  /** The crawler's arguments, as it reads them. */
  readonly args: unknown;
  /** Credentials of the page, and of others that it may redirect to. */
  readonly logins?: Logins | undefined;
}

/** Returns the visit of a page that belongs to no run. A crawler of one function follows its links, as with `--follow`. */
export async function trialVisit(
  url: CrawlUrl,
  about: AboutOffer,
  { settings, loaded: { crawler, version }, args, logins }: TrialOf,
): Promise<Visit> {
  const options = {
    ...runOptionsOf(settings, 'run'),
    ...(crawler.pageFunction === undefined ? {} : { follow: true }),
  };
  const { urlKey } = options;
  const task = { ...offerOf(url, { rules: await routingRulesOf(settings), urlKey, logins }, about), run: 'try' };
  const secrets = secretsFrom(readEnvironment(), [crawler]).of(crawler);
  const run = { incarnation: '', options, crawler, version, args, secrets };
  const state = { attempts: 0, starts: 1, throttles: 0, firstSeen: 0 };
  return { task, release: 1, holder: 'try', state, run, worker: 'try' };
}
