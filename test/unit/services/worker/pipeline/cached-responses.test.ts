import { expect, test } from 'vitest';
import pageCrawler from '../../../../../crawlers/page.ts';
import { CachedResponses } from '../../../../../services/worker/pipeline/cached-responses.ts';
import type { Visit } from '../../../../../services/worker/pipeline/visit.ts';
import { defineCrawler } from '../../../../../shared/crawler/crawler.ts';
import { cacheKeyOf } from '../../../../../shared/ports/response-cache.ts';
import type { RunOptions } from '../../../../../shared/ports/runs.ts';
import type { Task } from '../../../../../shared/task/task/task.ts';
import { FAST_RUN } from '../../../../support/builders.ts';

const URL = 'https://example.com/page/1';
const PAGE = { finalUrl: URL, status: 200, headers: {}, durationMs: 1, body: new Uint8Array() };

/** The calls that a visit makes to the cache behind, in a run with these options. */
async function callsOf(run: Partial<RunOptions>, extra: object = {}, crawler = pageCrawler): Promise<string[]> {
  const calls: string[] = [];
  const cached = new CachedResponses({
    get: async (key) => {
      calls.push(`get ${key}`);
      return PAGE;
    },
    set: async (key) => void calls.push(`set ${key}`),
  });
  const options = { ...FAST_RUN, ...run };
  const task = { run: 'r', url: URL, ...extra } as Task;
  const found = await cached.find(task, { options, crawler });
  if (found !== undefined) calls.push('found');
  await cached.keep({ task, run: { options, crawler } } as Visit, PAGE);
  return calls;
}

const [GET, SET] = [`get ${cacheKeyOf(URL)}`, `set ${cacheKeyOf(URL)}`];

const LOGINS = { 'https://example.com': 'user:password' };

// biome-ignore format: a table
test.each<[string, Partial<RunOptions>, object, string[]]>([
  ['fetches each URL again',                     { dedup: 'run' },                     {},                 [GET, 'found', SET]],
  ['fetches each URL again, with credentials',                      { dedup: 'run' },                     { logins: LOGINS }, []],
  ['fetches each URL again and is incremental',    { dedup: 'run', incremental: true },  {},                 [SET]],
  ['fetches each URL once for all runs',        { dedup: 'ever' },                    {},                 []],
  ['fetches each URL once for all runs and is incremental',                  { dedup: 'ever', incremental: true }, {},                 []],
])('cache calls of a run that %s', async (_, run, task, calls) => {
  expect(await callsOf(run, task)).toEqual(calls);
});

test('a page of a session, or of a crawler whose middleware changes requests, is neither cached nor read from the cache', async () => {
  const step = () => ({});
  for (const around of [{ session: { login() {} } }, { middleware: [{ name: 'key', beforeFetch() {} }] }])
    expect(await callsOf({ dedup: 'run' }, { step: '' }, defineCrawler({ name: 'own', step, ...around }))).toEqual([]);
  const after = defineCrawler({ name: 'own', step, middleware: [{ name: 'key', afterFetch() {} }] });
  expect(await callsOf({ dedup: 'run' }, { step: '' }, after)).toEqual([GET, 'found', SET]);
  const open = { start: { session: false as const, run() {} } };
  const partly = defineCrawler({ name: 'own', steps: open, session: { login() {} } });
  expect(await callsOf({ dedup: 'run' }, { step: '' }, partly)).toEqual([GET, 'found', SET]);
});

test('a cached page found for a run is not used if the run was reopened with options that don’t use the cache', () => {
  const cached = new CachedResponses({ get: async () => PAGE, set: async () => {} });
  expect(cached.serves({ ...FAST_RUN, dedup: 'ever' })).toBe(false);
  expect(cached.serves({ ...FAST_RUN, dedup: 'run' })).toBe(true);
});
