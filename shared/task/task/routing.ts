import { z } from 'zod';
import { MINUTE_MS, SECOND_MS } from '../durations.ts';

/** The two queues that work waits in. The priority queue gets three quarters of a worker's slots while both hold deliveries. */
export type Queue = 'priority' | 'normal';
export const QUEUES: readonly Queue[] = ['priority', 'normal'];

/**
 * Decides which queue a URL goes to, and how long it is worth fetching. A rule matches if all of its given fields match:
 *
 * | field  | matches                                                                                   |
 * |--------|-------------------------------------------------------------------------------------------|
 * | `host` | that host and its subdomains: `example.com` matches `www.example.com`, not `badexample.com` |
 * | `word` | a whole path segment or a whole host label: `news` matches `/news/x` and `news.example.com`, not `/newsletter` |
 * | `path` | a path that begins with these whole segments                                              |
 */
export interface RoutingRule {
  readonly host?: string | undefined;
  readonly word?: readonly string[] | undefined;
  readonly path?: string | undefined;
  readonly queue: Queue;
  /** Time after it was first seen during which a task may be fetched; after that it fails with reason `deadline`. */
  readonly deadlineMs?: number | undefined;
}

/** The queue and deadline of a URL. */
export interface Route {
  readonly queue: Queue;
  readonly deadlineMs?: number | undefined;
}

/**
 * The rules of a deployment that has none of its own. The first match wins; without a match, articles of news sitemaps go to
 * the priority queue, and everything else to the normal queue.
 */
export const DEFAULT_ROUTING: readonly RoutingRule[] = [
  { host: 'httpbin.org', queue: 'priority', deadlineMs: 5 * MINUTE_MS },
  { word: ['news', 'live'], queue: 'priority', deadlineMs: 30 * MINUTE_MS },
];

/** Schema of a JSON file of rules: a list of {@link RoutingRule}, with the deadline in seconds as `deadlineSeconds`. */
export const routingFileSchema = z.array(
  z
    .strictObject({
      host: z.string().min(1).optional(),
      word: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
      path: z.string().startsWith('/').optional(),
      queue: z.enum(['priority', 'normal']),
      deadlineSeconds: z.int().positive().optional(),
    })
    .transform(
      ({ deadlineSeconds, word, ...rule }): RoutingRule => ({
        ...rule,
        word: typeof word === 'string' ? [word] : word,
        deadlineMs: deadlineSeconds === undefined ? undefined : deadlineSeconds * SECOND_MS,
      }),
    ),
);

/** Applies the first rule that matches; if none does, the queue is `otherwise`. `url` is a URL that {@link readUrl} accepted. */
export function routeOf(
  url: string,
  rules: readonly RoutingRule[] = DEFAULT_ROUTING,
  otherwise: Queue = 'normal',
): Route {
  if (rules.length === 0) return { queue: otherwise };
  const { host, path } = partsOf(url);
  for (const rule of rules) if (matches(rule, host, path)) return { queue: rule.queue, deadlineMs: rule.deadlineMs };
  return { queue: otherwise };
}

/** Returns host name and path of a serialised URL. Parsed by hand, since this runs once per URL of every sitemap. */
function partsOf(url: string): { host: string; path: string } {
  const start = url.indexOf('//') + 2;
  let end = start;
  while (end < url.length && url[end] !== '/' && url[end] !== '?' && url[end] !== '#') end++;
  const authority = url.slice(start, end);
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d+$/, '');
  const tail = url.slice(end);
  const query = tail.search(/[?#]/);
  return { host, path: query < 0 ? tail : tail.slice(0, query) };
}

function matches(rule: RoutingRule, host: string, path: string): boolean {
  if (rule.host !== undefined && host !== rule.host && !host.endsWith(`.${rule.host}`)) return false;
  if (rule.path !== undefined && !`${path}/`.startsWith(rule.path.endsWith('/') ? rule.path : `${rule.path}/`))
    return false;
  return rule.word === undefined || rule.word.some((word) => hasPart(host, word, '.') || hasPart(path, word, '/'));
}

/** Is `word` a whole part of `text`, split at `separator`? */
function hasPart(text: string, word: string, separator: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = at === 0 || text[at - 1] === separator;
    const after = at + word.length === text.length || text[at + word.length] === separator;
    if (before && after) return true;
  }
  return false;
}
