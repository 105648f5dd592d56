import { expect, test } from 'vitest';
import { plainDepth, sortLinks } from '../../../../../shared/crawler/leads/links.ts';
import type { RunOptions } from '../../../../../shared/ports/runs.ts';
import type { Task } from '../../../../../shared/task/task/task.ts';
import { FAST_RUN } from '../../../../support/builders.ts';

const SEED: Task = {
  run: 'r',
  url: 'https://example.com/docs/',
  host: 'example.com',
  mark: 'https://example.com/docs/',
  step: '',
  depth: 0,
  queue: 'normal',
};

function follow(links: readonly string[], options: Partial<RunOptions>, task = SEED): string[] {
  const { offers } = sortLinks(links, {
    task,
    depthOf: plainDepth(task, {}),
    finalUrl: task.url,
    options: { ...FAST_RUN, ...options },
    rules: [],
  });
  return offers.map(({ url }) => url);
}

const LINKS = ['/docs/a', '/docs/b.pdf', '/docs/c?sort=1', '/news/1', '/login'].map(
  (path) => `https://example.com${path}`,
);
const paths = (urls: readonly string[]): string[] => urls.map((url) => url.slice('https://example.com'.length));

// biome-ignore format: a table
test.each<[string, Partial<RunOptions>, string[]]>([
  ['all of the host',                 {},                                              ['/docs/a', '/docs/b.pdf', '/docs/c?sort=1', '/news/1', '/login']],
  ['none that are too deep',          { maxDepth: 0 },                                 []],
  ['those that are included',         { include: ['/docs/*', '/news/*'] },             ['/docs/a', '/docs/b.pdf', '/docs/c?sort=1', '/news/1']],
  ['those included and not excluded', { include: ['/docs/*'], exclude: ['*.pdf', '*sort=*'] }, ['/docs/a']],
  ['all but those excluded',          { exclude: ['/login*'] },                        ['/docs/a', '/docs/b.pdf', '/docs/c?sort=1', '/news/1']],
  ['those in the folder of the seed', { scope: 'path', exclude: ['*.pdf'] },           ['/docs/a', '/docs/c?sort=1']],
])('links are followed: %s', (_, options, followed) => {
  expect(paths(follow(LINKS, options))).toEqual(followed);
});

test('links followed from a seed carry the folder of that seed', () => {
  const { offers } = sortLinks(['https://example.com/docs/a/b'], {
    task: SEED,
    depthOf: plainDepth(SEED, {}),
    finalUrl: SEED.url,
    options: { ...FAST_RUN, follow: true, scope: 'path' },
    rules: [],
  });
  expect(offers[0]).toMatchObject({ depth: 1, within: 'example.com/docs/' });
  const deeper = { ...SEED, url: 'https://example.com/docs/a/b', depth: 1, within: 'example.com/docs/' };
  expect(follow(LINKS, { scope: 'path' }, deeper)).toHaveLength(3);
});

test('hosts are counted by registrable domain, except for the host of the page, the domain itself and its www', async () => {
  const { registrableDomainOf: domainOf } = await import('../../../../../shared/task/url/registrable-domain.ts');
  const domains = (seed: string, links: readonly string[], options: Partial<RunOptions>) => {
    const task = { ...SEED, url: seed, host: new URL(seed).host };
    const how = { ...FAST_RUN, follow: true, ...options };
    const { offers } = sortLinks(links, { task, depthOf: () => 1, finalUrl: seed, options: how, rules: [], domainOf });
    return offers.map((offer) => ('domain' in offer ? offer.domain : undefined));
  };
  const wild = [
    'shop.example.co.uk',
    'a.b.example.co.uk',
    'shop.example.co.uk:8443',
    'www.example.co.uk',
    'example.co.uk',
  ];
  const links = wild.map((host) => `https://${host}/`);
  const bound: Partial<RunOptions> = { scope: 'domain', maxHostsPerDomain: 9 };
  const domain = 'example.co.uk';
  expect(domains('https://news.example.co.uk/', links, bound)).toEqual([domain, domain, domain, undefined, undefined]);
  expect(domains('https://shop.example.co.uk/', links, bound)[0], 'of the page itself').toBeUndefined();
  expect(domains('https://me.github.io/', ['https://me.github.io/', 'https://x.me.github.io/'], bound)).toEqual([
    undefined,
    'me.github.io',
  ]);
  expect(domains('https://news.example.co.uk/', links, { scope: 'domain' }), 'without a bound').toEqual(
    Array(5).fill(undefined),
  );
});

test('links that are left out are sorted by reason: too deep, or outside scope and patterns', () => {
  const how = { task: { ...SEED, depth: 3 }, depthOf: () => 4, finalUrl: SEED.url, rules: [] };
  const links = [...LINKS, 'https://other.example/'];
  const options = { ...FAST_RUN, scope: 'path', exclude: ['*.pdf'] } as const;
  const sorted = sortLinks(links, { ...how, options, isSeen: (link) => link.endsWith('sort=1') });
  const outside = ['https://example.com/docs/b.pdf', ...links.slice(3)];
  expect(sorted).toEqual({ offers: [], tooDeep: ['https://example.com/docs/a'], outOfScope: outside });
  const shallow = sortLinks(links, { ...how, task: SEED, depthOf: () => 1, options, isSeen: () => true });
  expect(shallow.offers, 'what was seen is offered all the same').toHaveLength(2);
  expect(shallow.outOfScope).toEqual(outside);
});

test('the next page of a list is as deep as this one, unless the depth was set', () => {
  const [next = '', item = ''] = LINKS;
  const depths = (depth: number, hasDefaultDepth: boolean) => {
    const options = { ...FAST_RUN, hasDefaultDepth };
    const task = { ...SEED, depth };
    const how = { task, finalUrl: SEED.url, rules: [], depthOf: plainDepth(task, options, (link) => link === next) };
    return sortLinks([next, item], { ...how, options }).offers.map((offer) => offer.depth);
  };
  expect(depths(1, true)).toEqual([1, 2]);
  expect(depths(3, true)).toEqual([3]);
  expect(depths(1, false)).toEqual([2, 2]);
  expect(depths(3, false)).toEqual([]);
});
