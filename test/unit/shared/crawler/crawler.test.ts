import { expect, test } from 'vitest';
import type { LoginContext } from '../../../../shared/crawler/around/session.ts';
import { type Crawler, defineCrawler } from '../../../../shared/crawler/crawler.ts';
import { Page } from '../../../../shared/crawler/page.ts';
import { testCrawler } from '../../../../shared/crawler/testing/test-crawler.ts';

const run = (): void => {};

/** Returns the problems a definition is refused with; none if it is accepted. */
function refusal(definition: object): readonly string[] {
  try {
    defineCrawler(definition as Parameters<typeof defineCrawler>[0]);
    return [];
  } catch (error: unknown) {
    return String((error as Error).message).split('\n');
  }
}

// biome-ignore format: a table
test.each<[string, object, readonly string[]]>([
  ['that is valid',                 { name: 'a', steps: { start: { to: ['b'], run }, b: { run } } }, []],
  ['of one function',               { name: 'a', step: run },                                        []],
  ['with patterns of files',        { name: 'a', patterns: { download: '*.pdf' }, steps: { start: { run } } }, []],
  ['without a name',                { steps: { start: { run } } },                                   ['crawler without a name: expected a name of letters, digits and hyphens, at most 63']],
  ['with both step and steps',      { name: 'a', step: run, steps: { start: { run } } },             ['crawler a: expected either step or steps, got both']],
  ['with neither step nor steps',   { name: 'a' },                                                   ['crawler a: expected steps, by their names: { start: { run({ page }) { … } } }']],
  ['with a link to an unknown step', { name: 'a', steps: { start: { to: ['prodct'], run }, product: { run } } }, [
    'crawler a: step start leads to prodct, which is no step: did you mean product?',
    "crawler a: step product can't be reached: no step leads to it, and it has no pattern",
  ]],
  ['with an unreachable circle of steps', { name: 'a', steps: { start: { run }, b: { to: ['c'], run }, c: { to: ['b'], run } } }, [
    "crawler a: step b can't be reached: no step leads to it, and it has no pattern",
    "crawler a: step c can't be reached: no step leads to it, and it has no pattern",
  ]],
  ['whose steps lack functions',    { name: 'a', steps: { start: { to: 'b' }, 'b c': { run } } }, [
    'crawler a: step start: expected run to be a function',
    'crawler a: step start: expected to to be a list of steps',
    'crawler a: step b c: expected a name of letters, digits and hyphens, at most 63',
  ]],
  ['with patterns that match nothing', { name: 'a', patterns: { start: ['news/*', '/{a,b}/*'], x: '/a' }, steps: { start: { run } } }, [
    'crawler a: patterns name x, which is no step',
    'crawler a: no URL matches "news/*": a pattern begins with /, * or https://',
    'crawler a: "/{a,b}/*" has braces, which stand for themselves: list a pattern for each',
  ]],
  ['with an unknown condition', { name: 'a', steps: { start: { when: { exist: 'sku' }, run } } }, [
    'crawler a: step start: when: there is no exist; there are exists, equals, notEquals, greaterThan, lessThan, in, and, or, not',
  ]],
  ['with malformed nested conditions', { name: 'a', steps: {
    start: { when: { and: [{ not: { greater: { n: 1 } } }] }, to: ['b', 'c', 'd'], run },
    b: { when: { in: { n: 5 } }, run },
    c: { when: { or: { exists: 'n' } }, run },
    d: { when: { toString: 1 }, run },
  } }, [
    'crawler a: step start: when: there is no greater; there are exists, equals, notEquals, greaterThan, lessThan, in, and, or, not',
    "crawler a: step b: when: expected in to be fields, each with a list of values: { size: ['s', 'm'] }",
    'crawler a: step c: when: expected or to be a list of forms',
    'crawler a: step d: when: there is no toString; there are exists, equals, notEquals, greaterThan, lessThan, in, and, or, not',
  ]],
  ['with unknown fields', { name: 'a', seed: [], steps: { start: { recrod: {}, run } }, joins: { j: { off: [], of: ['start'], run } } }, [
    'crawler a: there is no seed: did you mean seeds?',
    'crawler a: step start: there is no recrod: did you mean record?',
    'crawler a: join j: there is no off: did you mean of?',
  ]],
  ['with fields of other libraries', { name: 'a', start_urls: [], custom: 1, steps: { start: { callback: run, cb_kwargs: {}, run } } }, [
    'crawler a: there is no start_urls: did you mean seeds?',
    'crawler a: there is no custom; there are name, accepts, strictVersion, secrets, session, middleware, step, steps, args, seeds, patterns, sessions, joins',
    'crawler a: step start: there is no callback: did you mean run?',
    'crawler a: step start: there is no cb_kwargs: did you mean keeps?',
  ]],
  ['with fields of the wrong type', { name: 'a', args: {}, seeds: 'https://a.example/', accepts: 'text/html', steps: {
    start: { scope: 'any', include: '/a', keeps: {}, record: 'name', run },
  }, joins: { j: { of: ['start'], record: {}, run } } }, [
    'crawler a: step start: expected keeps to be a zod schema: z.object({ … })',
    'crawler a: step start: expected record to be a zod schema: z.object({ … })',
    'crawler a: step start: expected scope to be one of host, domain, path, got any',
    'crawler a: step start: expected include to be a list of patterns',
    'crawler a: join j: expected record to be a zod schema: z.object({ … })',
    'crawler a: expected args to be a zod object: z.object({ … })',
    'crawler a: expected seeds to be a list of URLs, or a function that gives one',
    'crawler a: expected accepts to be a function',
  ]],
  ['whose step is null',            { name: 'a', steps: { start: null } }, ['crawler a: step start: expected an object with a function: { run() {} }']],
  ['with names that every object inherits', { name: 'a', steps: { constructor: { run } }, joins: { valueOf: { of: ['constructor'], run } } }, [
    'crawler a: step constructor: expected another name: every JavaScript object has this one',
    'crawler a: join valueOf: expected another name: every JavaScript object has this one',
  ]],
  ['with names of digits alone',    { name: 'a', steps: { start: { fallback: '404', run }, 404: { run } } }, [
    'crawler a: step 404: expected a name with a letter in it: JavaScript puts names of digits alone before all others',
  ]],
  ['with a step that leads to files', { name: 'a', steps: { start: { to: ['download'], run } } }, [
    'crawler a: step start leads to download, which is no step: download(links) stores files',
  ]],
  ['whose fallback is unknown', { name: 'a', steps: { start: { fallback: 'lst', run }, list: { run } } }, [
    'crawler a: step start falls back to lst, which is no step: did you mean list?',
    "crawler a: step list can't be reached: no step leads to it, and it has no pattern",
  ]],
  ['whose fallbacks form a circle', { name: 'a', steps: { start: { fallback: 'b', run }, b: { fallback: 'c', run }, c: { fallback: 'b', run } } }, [
    'crawler a: fallbacks go round in a circle: b, c, b',
  ]],
  ['that falls back to itself',     { name: 'a', steps: { start: { fallback: 'start', run } } },     ['crawler a: fallbacks go round in a circle: start, start']],
  ['with a step that only a fallback reaches', { name: 'a', steps: { start: { fallback: 'b', run }, b: { run } } }, []],
  ['with invalid joins',            { name: 'a', steps: { start: { timeoutMs: 0, run } }, joins: {
    sum: { per: 'start', of: ['start'], retry: { attempts: 0, when: 'all' }, timeoutMs: '5s', run },
    all: { of: ['sum'], retry: { when: ['timeout'] }, deadlineMs: -1, run },
    one: { of: ['sum'], retry: { when: 'transient' }, run },
  } }, [
    'crawler a: step start: expected timeoutMs to be milliseconds, more than 0 and at most 31536000000, got 0',
    'crawler a: join sum: retry: expected attempts to be a whole number from 1 to 100',
    'crawler a: join sum: expected timeoutMs to be milliseconds, more than 0 and at most 31536000000, got 5s',
    "crawler a: join all: retry: a join doesn't fail for timeout: expected when to be all, a list of step, schema, or a function",
    'crawler a: join all: expected deadlineMs to be milliseconds, more than 0 and at most 31536000000, got -1',
    'crawler a: join one: retry: expected when to be all, a list of step, schema, or a function: a join asks no host, so nothing that fails is transient',
  ]],
  ['with statuses that can’t be taken', { name: 'a', statuses: [404], steps: { start: { statuses: [404, 200, 301, 600, '404'], run }, b: { statuses: 404, run } }, patterns: { b: '/b' } }, [
    'crawler a: expected statuses in the steps it is for, not beside them',
    'crawler a: step start: statuses: expected numbers from 400 to 599, got 200: answers of 2xx are pages anyway',
    'crawler a: step start: statuses: expected numbers from 400 to 599, got 301: redirects are followed, and never pages',
    'crawler a: step start: statuses: expected numbers from 400 to 599, got 600',
    'crawler a: step start: statuses: expected numbers from 400 to 599, got "404"',
    "crawler a: step b: expected statuses to be a list such as [404, 410], or 'all'",
  ]],
  ['of one function with statuses that can’t be taken', { name: 'a', statuses: [304], step: run }, [
    'crawler a: statuses: expected numbers from 400 to 599, got 304: redirects are followed, and never pages',
  ]],
  ['with invalid policies',         { name: 'a', steps: { start: { retry: { attempts: 0 }, rate: 'fast', run } } }, [
    'crawler a: step start: retry: expected attempts to be a whole number from 1 to 100',
    'crawler a: step start: expected rate to be a rate like 2/s, 60/min or 100/h, from 0.01/h to 6000/min, or none',
  ]],
])('a crawler %s is reported with all its problems at once', (_, definition, problems) => {
  expect(refusal(definition)).toEqual(problems);
});

test('steps, joins and sessions can be instances of classes', async () => {
  class Counting {
    #calls = 0;
    run({ emit }: { readonly emit: (item: unknown) => void }) {
      emit({ calls: ++this.#calls });
    }
  }
  class Sum extends Counting {
    readonly of = ['start'] as const;
  }
  class Login {
    #isIn = false;
    login() {
      this.#isIn = true;
    }
    isExpired() {
      return !this.#isIn;
    }
  }
  const crawler = defineCrawler({
    name: 'a',
    session: new Login(),
    steps: { start: new Counting() },
    joins: { sum: new Sum() },
  });
  const { items } = await testCrawler(crawler, { pages: [{ html: '' }] });
  expect(items).toEqual({ start: [{ calls: 1 }], sum: [{ calls: 1 }] });
  const session = crawler.sessionOf({ step: '' });
  await session?.login({} as LoginContext);
  expect(session?.isExpired?.(Page.fromHtml(''))).toBe(false);
});

const SHOP: Crawler = defineCrawler({
  name: 'shop',
  patterns: { product: ['/product/*', 'https://cdn.example/*'] },
  steps: { start: { to: ['start', 'list'], run }, list: { to: ['product', 'start'], run }, product: { run } },
});

test('a URL starts at the step whose pattern it matches, otherwise at the first step', () => {
  const starts = ['https://a.example/product/1', 'https://cdn.example/x', 'https://a.example/'].map((url) =>
    SHOP.startOf(url),
  );
  expect(starts).toEqual(['product', 'product', '']);
});

test('only a link that closes a circle of steps makes pages deeper', () => {
  const loops = [
    ['start', 'start'],
    ['start', 'list'],
    ['list', 'start'],
    ['list', 'product'],
  ].map(([from = '', to = '']) => SHOP.graph.isLoop(from, to));
  expect(loops).toEqual([true, false, true, false]);
});
