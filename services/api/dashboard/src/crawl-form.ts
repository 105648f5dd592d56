import { flag } from './command-line.ts';
import { linesOf } from './lines.ts';

/** The fields of the form. An empty one stands for the setting's default. */
export interface CrawlForm {
  readonly seeds: string;
  readonly run: string;
  readonly crawler: string;
  readonly args: string;
  readonly rate: string;
  readonly follow: boolean;
  readonly maxDepth: string;
  readonly maxPages: string;
  readonly scope: string;
  readonly include: string;
  readonly exclude: string;
  readonly fresh: boolean;
  readonly webhook: string;
  /** Secret with which the receiver verifies that the API sent the message; empty without a webhook. */
  readonly webhookSecret: string;
}

/** Scopes of followed links. A copy, since their own module can't be loaded in a browser; a test compares the two. */
export const SCOPE_CHOICES = ['host', 'domain', 'path'] as const;

export const EMPTY_CRAWL: CrawlForm = {
  seeds: '',
  run: '',
  crawler: '',
  args: '',
  rate: '',
  follow: false,
  maxDepth: '',
  maxPages: '',
  scope: '',
  include: '',
  exclude: '',
  fresh: false,
  webhook: '',
  webhookSecret: '',
};

const SECRET_BYTES = 32;

/** Returns a new webhook secret in the form of Standard Webhooks. */
export function newWebhookSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))}`;
}

/** Returns a sentence about the first line of the seeds that is not a URL, or nothing if all are. */
export function seedProblem({ seeds }: Pick<CrawlForm, 'seeds'>): string | undefined {
  const lines = seeds.split('\n').map((line) => line.trim());
  const index = lines.findIndex((line) => line !== '' && !/^https?:\/\/\S+$/i.test(line));
  if (index === -1) return undefined;
  return `Line ${index + 1} of the seeds: expected one URL that begins with http:// or https://, got ${lines[index]}`;
}

/** Returns the body of POST `/api/runs`. */
export function crawlBody(form: CrawlForm): object {
  const { run, crawler, webhook, webhookSecret } = form;
  const args = Object.fromEntries(linesOf(form.args).map(pairOf));
  const options = optionsOf(form);
  return {
    seeds: linesOf(form.seeds),
    ...(run === '' ? {} : { run }),
    ...(crawler === '' ? {} : { crawler }),
    ...(Object.keys(args).length === 0 ? {} : { args }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(webhook === '' ? {} : { webhook: { url: webhook, secret: webhookSecret } }),
  };
}

/** Returns the words of the equivalent command. `crawl`, for one machine, takes URLs again by default; `produce`, for a fleet, doesn't. */
export function crawlWords(form: CrawlForm, isLocal: boolean): readonly string[] {
  const { run, crawler, rate, follow, maxDepth, maxPages, scope, include, exclude, fresh } = form;
  const links = follow
    ? [
        '--follow',
        ...flag('--max-depth', maxDepth),
        ...flag('--max-pages', maxPages),
        ...flag('--scope', scope),
        ...flag('--include', include),
        ...flag('--exclude', exclude),
      ]
    : [];
  return [
    isLocal ? 'crawl' : 'produce',
    ...linesOf(form.seeds),
    ...flag('--run', run),
    ...flag('--crawler', crawler),
    ...linesOf(form.args).flatMap((each) => flag('--arg', each)),
    ...flag('--rate', rate),
    ...links,
    ...(fresh && !isLocal ? ['--fresh'] : []),
    ...(!fresh && isLocal ? ['--dedup', 'ever'] : []),
  ];
}

function optionsOf({ rate, follow, maxDepth, maxPages, scope, include, exclude, fresh }: CrawlForm): object {
  const given = (name: string, value: string | number): object => (value === '' ? {} : { [name]: value });
  return {
    ...given('rate', rate.trim()),
    ...(follow
      ? {
          follow,
          ...given('maxDepth', maxDepth === '' ? '' : Number(maxDepth)),
          ...given('maxPages', maxPages === '' ? '' : Number(maxPages)),
          ...given('scope', scope),
          ...given('include', include.trim()),
          ...given('exclude', exclude.trim()),
        }
      : {}),
    ...(fresh ? { dedup: 'run' } : {}),
  };
}

function pairOf(line: string): [string, string] {
  const at = line.indexOf('=');
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}
