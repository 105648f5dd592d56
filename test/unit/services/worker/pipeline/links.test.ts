import { expect, test } from 'vitest';
import { linksToFollow } from '../../../../../services/worker/pipeline/links.ts';
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
  const offers = linksToFollow(links, {
    task,
    finalUrl: task.url,
    options: { ...FAST_RUN, follow: true, ...options },
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
  ['all of the host',            {},                                              ['/docs/a', '/docs/b.pdf', '/docs/c?sort=1', '/news/1', '/login']],
  ['none, if none are followed', { follow: false },                               []],
  ['none, if that is too deep',  { maxDepth: 0 },                                 []],
  ['those that are included',    { include: ['/docs/*', '/news/*'] },             ['/docs/a', '/docs/b.pdf', '/docs/c?sort=1', '/news/1']],
  ['but not those excluded',     { include: ['/docs/*'], exclude: ['*.pdf', '*sort=*'] }, ['/docs/a']],
  ['all but those excluded',     { exclude: ['/login*'] },                        ['/docs/a', '/docs/b.pdf', '/docs/c?sort=1', '/news/1']],
  ['those of the folder',        { scope: 'path', exclude: ['*.pdf'] },           ['/docs/a', '/docs/c?sort=1']],
])('%s', (_, options, followed) => {
  expect(paths(follow(LINKS, options))).toEqual(followed);
});

test('the folder of a seed goes along with what is followed from it', () => {
  const [offer] = linksToFollow(['https://example.com/docs/a/b'], {
    task: SEED,
    finalUrl: SEED.url,
    options: { ...FAST_RUN, follow: true, scope: 'path' },
    rules: [],
  });
  expect(offer).toMatchObject({ depth: 1, within: 'example.com/docs/' });
  const deeper = { ...SEED, url: 'https://example.com/docs/a/b', depth: 1, within: 'example.com/docs/' };
  expect(follow(LINKS, { scope: 'path' }, deeper)).toHaveLength(3);
});

test('hosts of a domain are counted by the domain that somebody registered; the host of the page, the domain and its www are not', async () => {
  const { registrableDomainOf: domainOf } = await import('../../../../../shared/task/url/registrable-domain.ts');
  const domains = (seed: string, links: readonly string[], options: Partial<RunOptions>) => {
    const task = { ...SEED, url: seed, host: new URL(seed).host };
    const how = { ...FAST_RUN, follow: true, ...options };
    const offers = linksToFollow(links, { task, finalUrl: seed, options: how, rules: [], domainOf });
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
