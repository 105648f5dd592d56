import { expect, test } from 'vitest';
import { offerOfSeed, type Seeded } from '../../../../services/producer/offer.ts';
import { RecentOffers } from '../../../../services/producer/recent-offers.ts';
import { readSeeds } from '../../../../services/producer/seeds.ts';
import { DEFAULT_ROUTING } from '../../../../shared/task/task/routing.ts';
import { openSite, serve, sitemapIndex, urlset } from './documents.ts';
import { HurriedClock } from './hurried-clock.ts';
import { setup } from './setup.ts';

const LOGIN = 'canary:c4n';
const BASIC = `Basic ${Buffer.from(LOGIN).toString('base64')}`;
const sung = (url: string): string => url.replace('://', `://${LOGIN}@`);

test('the credentials of a site are used for its robots.txt, sitemaps and pages, and for no other origin', async () => {
  const [site, other] = [await openSite(), await openSite()];
  const { produce, parts, problems } = setup();
  serve(site, '/robots.txt', `Sitemap: ${site.url('/index.xml')}\nSitemap: ${other.url('/other.xml')}`, 'text/plain');
  serve(site, '/index.xml', sitemapIndex([site.url('/s.xml'), site.url('/moved.xml')]));
  site.on('/moved.xml', (_, response) => void response.writeHead(302, { location: other.url('/there.xml') }).end());
  serve(site, '/s.xml', urlset([site.url('/1'), other.url('/2'), sung(other.url('/3')), '/4']));
  serve(other, '/other.xml', urlset([site.url('/5')]));
  serve(other, '/there.xml', urlset([site.url('/6')]));
  const [seed] = await readSeeds([sung(site.url('/'))]);
  expect(seed).toEqual({ kind: 'site', url: site.url('/'), logins: { [site.origin]: LOGIN } });
  await produce().produce(seed === undefined ? [] : [seed]);
  expect(problems).toEqual([]);
  for (const { path, headers } of site.requests) expect([path, headers.authorization]).toEqual([path, BASIC]);
  for (const { path, headers } of other.requests) expect([path, headers.authorization]).toEqual([path, undefined]);
  const { tasks } = await parts.frontier.release({ limit: 100, window: 1_000, unpaced: true });
  const found = tasks.map(({ task }) => [task.url, task.logins]).toSorted();
  expect(found).toEqual(
    [
      ...['/1', '/4', '/5', '/6'].map((path) => [site.url(path), { [site.origin]: LOGIN }]),
      [other.url('/2'), undefined],
      [other.url('/3'), { [other.origin]: LOGIN }],
    ].toSorted(),
  );
  for (const { task } of tasks) expect(task.url + task.mark + task.host).not.toMatch(/canary|c4n/);
});

test('an unreachable site is reported without its credentials', async () => {
  const { produce, problems } = setup();
  await produce().produce(await readSeeds([sung('http://127.0.0.1:1/'), sung('http://127.0.0.1:1/sitemap.xml')]));
  expect(problems).toHaveLength(2);
  expect(problems.join()).not.toMatch(/canary|c4n/);
});

test.each([`${LOGIN}@h.test/`, `http://${LOGIN}@h.test:port/`, `http://canary:c4/n@h.test/`, `ftp://${LOGIN}@h.test/`])(
  'the error for an invalid seed does not contain its credentials: %s',
  async (text) => {
    const refused = await readSeeds([text]).catch(String);
    expect(refused).toContain('h.test');
    expect(refused).not.toMatch(/canary|c4/);
  },
);

test('recent offers are repeated with their credentials', () => {
  const recent = new RecentOffers(new HurriedClock());
  const rules = { rules: DEFAULT_ROUTING, urlKey: undefined };
  const logins = { 'http://a.test': LOGIN };
  const offers: Seeded[] = [
    { loc: 'http://a.test/x', logins, changedAt: 5 },
    { loc: 'http://a.test/y', isNews: true, logins },
  ];
  const offered = [...offers, { loc: 'http://b.test/' }].map((seeded) => offerOfSeed(seeded, rules));
  recent.keep(offered);
  const again = recent.list().flatMap((batch) => batch.map((seeded) => offerOfSeed(seeded, rules)));
  const byUrl = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  expect(again.toSorted(byUrl)).toEqual(offered.toSorted(byUrl));
  expect(offered[0]).toMatchObject({ logins, mark: expect.stringMatching(/^http:\/\/a\.test\/x#/) });
});
