import { expect, test } from 'vitest';
import { openApi, openSite } from '../setup.ts';

test('a local run takes URLs that an earlier run took, as trawl crawl does, unless dedup is ever', async () => {
  const site = await openSite();
  const { ask } = await openApi();
  const counted = async (options: object) => {
    const { status, json } = await ask('/api/runs', { body: { seeds: [site.url('/page/1')], options } });
    expect(status).toBe(202);
    return [json.discovered, json.duplicate];
  };
  expect(await counted({ dedup: 'ever' })).toEqual([1, 0]);
  expect(await counted({})).toEqual([1, 0]);
  expect(await counted({ dedup: 'ever' })).toEqual([0, 1]);
});

test('an unknown crawler is answered with the name that resembles it', async () => {
  const { ask } = await openApi();
  const detail = 'there is no crawler pagee here: did you mean page?';
  for (const { status, json } of [
    await ask('/api/runs', { body: { crawler: 'pagee' } }),
    await ask('/api/crawlers/pagee/graph'),
    await ask('/api/crawl/batch', { body: { urls: ['http://a.test/'], options: { crawler: 'pagee' } } }),
  ])
    expect([status, json]).toMatchObject([404, { code: 'unknown_crawler', detail }]);
  const { json } = await ask('/api/crawlers/something-else/graph');
  expect(json.detail).toBe('there is no crawler something-else here');
});
