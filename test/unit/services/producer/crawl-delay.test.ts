import { expect, test } from 'vitest';
import type { ProducerOptions } from '../../../../services/producer/producer.ts';
import { openSite, pages, serve, urlset } from './documents.ts';
import { RUN_OPTIONS, setup } from './setup.ts';

/** Reads a site whose robots.txt names three sitemaps and has this delay. Returns when each was asked for, in ms from the start. */
async function read(delay: string, options: Partial<ProducerOptions> = {}): Promise<readonly number[]> {
  const { produce, clock } = setup();
  const site = await openSite();
  const began = clock.now();
  const asked: number[] = [];
  const names = [1, 2, 3].map((n) => `/sitemap-${n}.xml`);
  serve(
    site,
    '/robots.txt',
    [`User-agent: *`, delay, ...names.map((name) => `Sitemap: ${name}`)].join('\n'),
    'text/plain',
  );
  for (const name of names) {
    site.on(name, (_, response) => {
      asked.push(clock.now() - began);
      response.writeHead(200, { 'content-type': 'application/xml' }).end(urlset(pages(1)));
    });
  }
  await produce(options).produce([{ kind: 'site', url: site.url('/') }]);
  return asked;
}

test.each<[string, string, Partial<ProducerOptions>, readonly number[]]>([
  ['Crawl-delay: 7', 'is obeyed', {}, [7_000, 14_000, 21_000]],
  ['Crawl-delay: 60', 'is obeyed', {}, [60_000, 120_000, 180_000]],
  ['Crawl-delay: 61', 'is too long', {}, [0, 0, 0]],
  ['Disallow:', 'is missing', {}, [0, 0, 0]],
  ['Crawl-delay: 7', 'is ignored by the process', { robots: 'ignore' }, [0, 0, 0]],
  ['Crawl-delay: 7', 'is ignored by the run', { runOptions: { ...RUN_OPTIONS, robots: 'ignore' } }, [0, 0, 0]],
])('when sitemaps are read, the delay of a robots.txt with %s %s', async (delay, _, options, asked) => {
  expect(await read(delay, options)).toEqual(asked);
});
