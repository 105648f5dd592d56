import { flag } from './command-line.ts';
import { linesOf } from './lines.ts';

/** What was filled in; empty where the setting's default counts. */
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
  /** By which its receiver knows that the API sent it; empty if there is no webhook. */
  readonly webhookSecret: string;
}

/** The scopes of followed links. Their own module is none for browsers; a test holds them to it. */
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

/** A new secret of a webhook, by Standard Webhooks. */
export function newWebhookSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))}`;
}

/** Names the first line of the seeds that is no URL; nothing if each is. */
export function seedProblem({ seeds }: Pick<CrawlForm, 'seeds'>): string | undefined {
  const lines = seeds.split('\n').map((line) => line.trim());
  const index = lines.findIndex((line) => line !== '' && !/^https?:\/\/\S+$/i.test(line));
  if (index === -1) return undefined;
  return `Line ${index + 1} of the seeds: expected one URL that begins with http:// or https://, got ${lines[index]}`;
}

/** The body of POST `/api/runs`. */
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

/** The same as a command, of a fleet or of one machine: that takes URLs again unless it is told not to. */
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
