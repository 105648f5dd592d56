import { describe, expect, test } from 'vitest';
import { type HostHeaders, parseHostHeaders } from '../../../../shared/task/host/host-headers.ts';
import { TestSite } from '../../../support/site.ts';
import type { Setup } from './setup.ts';

function headersFor(host: string, headers: object): HostHeaders {
  const parsed = parseHostHeaders({ [host]: headers });
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'));
  return parsed;
}

const PRIVATE = { Authorization: 'Bearer 1', Cookie: 'a=b', 'X-Key': 'k', Accept: 'text/plain' };
const SENT = { authorization: 'Bearer 1', cookie: 'a=b', 'x-key': 'k', accept: 'text/plain' };

/** What only this deployment sends: headers of hosts and logins of URLs, but no cookies. */
export function describeCredentials(setup: Setup): void {
  describe('credentials', () => {
    /** Starts two sites and a fetcher that sends own headers to the first one. */
    async function setupTwo() {
      const site = new TestSite();
      await site.start();
      const { fetcher, site: other } = await setup({ hostHeaders: headersFor(site.host, PRIVATE) });
      return {
        site,
        other,
        fetcher,
        fetch: (url: string) => fetcher.fetch({ url, maxBodyBytes: 100_000 }),
        close: async () => {
          await fetcher.stop();
          await site.disconnection();
          await site.stop();
        },
      };
    }

    test('a host’s headers are sent with every page and document of that host, and to no other host', async () => {
      const { site, other, fetch, fetcher, close } = await setupTwo();
      for (const path of ['/page/1', '/robots.txt', '/redirect/2']) await fetch(site.url(path));
      (await fetcher.open({ url: site.url('/sitemap.xml') })).body.destroy();
      await fetch(other.url('/page/1'));
      expect(site.requests).toHaveLength(4);
      for (const { headers } of site.requests) expect(headers).toMatchObject(SENT);
      expect(ofOurs(other)).toEqual([{ accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }]);
      expect([fetcher.variantOf(site.url('/a')), fetcher.variantOf(other.url('/a'))]).toEqual([
        expect.stringMatching(/^[0-9a-f]{16}$/),
        undefined,
      ]);
      await close();
    });

    test('a redirect from the same origin gets the host’s headers, one from another origin does not', async () => {
      const { site, other, fetcher, close } = await setupTwo();
      const hop = { url: site.url('/page/1'), maxBodyBytes: 100_000 };
      await fetcher.fetch({ ...hop, redirectedFrom: other.url('/page/2') });
      await fetcher.fetch({ ...hop, redirectedFrom: site.url('/page/2') });
      expect(site.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, 'a=b']);
      await close();
    });

    test('cookies of a request are sent with those of the host, which win; set-cookie lines go to `onCookies`', async () => {
      const { site, other, fetcher, close } = await setupTwo();
      const lines: string[][] = [];
      const onCookies = (each: readonly string[]) => void lines.push([...each]);
      other.on('/set', (_, response) => response.writeHead(302, { location: '/', 'set-cookie': ['x=1', 'y=2'] }).end());
      for (const at of [site, other])
        await fetcher.fetch({ url: at.url('/page/1'), cookie: 'a=z; c=d', maxBodyBytes: 100_000, onCookies });
      const answer = await fetcher.fetch({ url: other.url('/set'), maxBodyBytes: 100_000, onCookies });
      expect(site.requests.map(({ headers }) => headers.cookie)).toEqual(['a=b; c=d']);
      expect(other.requests.map(({ headers }) => headers.cookie)).toEqual(['a=z; c=d', undefined]);
      expect(lines).toEqual([['x=1', 'y=2']]);
      expect(answer.headers).not.toHaveProperty('set-cookie');
      await close();
    });

    test('a host under another name does not get its headers', async () => {
      const { site, fetch, close } = await setupTwo();
      await fetch(`http://localhost:${site.port}/page/1`);
      for (const headers of ofOurs(site)) expect(Object.keys(headers)).toEqual(['accept']);
      await close();
    });

    test('a login is sent with its own URL, unless the deployment has one for the host', async () => {
      const { site, other, fetcher, close } = await setupTwo();
      for (const url of [site.url('/page/1'), other.url('/page/1')]) {
        await fetcher.fetch({ url, maxBodyBytes: 100_000, login: 'jo:p%40ss' });
        (await fetcher.open({ url, login: 'jo:p%40ss' })).body.destroy();
      }
      const basic = `Basic ${Buffer.from('jo:p@ss').toString('base64')}`;
      expect(site.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 1']);
      expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([basic, basic]);
      await close();
    });

    test('cookies that a host sets are never sent, after a redirect or otherwise', async () => {
      const { fetch, site } = await setup();
      site.on('/login', (_, response) => {
        response.writeHead(302, { location: '/page/1', 'set-cookie': ['session=1; Path=/', 'b=2'] }).end();
      });
      for (const path of ['/login', '/page/1', '/cookie', '/page/2']) await fetch(path);
      expect(site.requests.map(({ path, headers }) => [path, headers.cookie])).toEqual([
        ['/login', undefined],
        ['/page/1', undefined],
        ['/cookie', undefined],
        ['/page/2', undefined],
      ]);
    });
  });
}

function ofOurs({ requests }: TestSite): object[] {
  return requests.map(({ headers }) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => Object.hasOwn(SENT, name))),
  );
}
