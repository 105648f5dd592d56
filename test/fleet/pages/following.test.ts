import { describe, expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { type TestHandler, TestSite } from '../../support/site.ts';

/**
 * Answers `/docs/<n>`, with and without a trailing slash, with links to two deeper pages, to `/`, and to a file.
 *
 * Only one page links to each, so that its depth doesn't depend on which of two answers came first.
 */
function serveDocs(site: TestSite, pages: number): void {
  for (let n = 1; n <= pages; n++) {
    const answer: TestHandler = (_, response) => {
      const [left, right] = [`/docs/${2 * n}`, `/docs/${2 * n + 1}`];
      const links = [left, `${right}/`, right, '/', '/docs/file.pdf', '/docs/x?sort=1'];
      const html = links.map((href) => `<a href="${href}">${href}</a>`).join('');
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    };
    for (const path of [`/docs/${n}`, `/docs/${n}/`]) site.on(path, answer);
  }
}

const paths = (site: TestSite): string[] => site.requests.map(({ path }) => path).toSorted();
const PATTERNS = ['--scope', 'path', '--exclude', '*.pdf,*sort=*', '--url-key', 'no-trailing-slash'];

describe('following links', () => {
  test('stays in the folder of the seed, keeps to patterns, and takes a URL with a trailing slash for the same page', async () => {
    const site = new TestSite();
    await site.start();
    onTestFinished(() => site.stop());
    serveDocs(site, 20);
    const workplace = await openWorkplace();
    const follow = ['--follow', '--max-depth', '3', ...PATTERNS, ...AT_FULL_SPEED];
    const summary = await workplace.json(['crawl', site.url('/docs/1'), ...follow]);
    expect(summary).toMatchObject({ discovered: 15, done: 15, failed: 0 });
    expect(paths(site).filter((path) => !path.startsWith('/docs/'))).toEqual([]);
    expect(paths(site).some((path) => /pdf|sort/.test(path))).toBe(false);
    const keys = paths(site).map((path) => path.replace(/\/$/, ''));
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toHaveLength(15);
  });

  test('--max-pages limits the pages of a crawl, and its summary says so', async () => {
    const site = new TestSite({ pages: 100, linksPerPage: 5 });
    await site.start();
    onTestFinished(() => site.stop());
    const workplace = await openWorkplace();
    const flags = ['--follow', '--max-depth', '99', '--max-pages', '12', ...AT_FULL_SPEED];
    const { code, stdout, stderr } = await workplace.run(['crawl', site.url('/page/1'), ...flags]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('further links are left out')]);
    expect(stdout).toContain('12 pages');
    expect(stdout).toMatch(/It reached its limit of 12 pages: \d+ links were left out \(--max-pages\)\./);
    expect(await workplace.json(['crawl', site.url('/page/1'), ...flags])).toMatchObject({
      discovered: 12,
      done: 12,
      maxPagesReached: true,
    });
  });

  test('--limit takes the first URLs, seeds and links together', async () => {
    const site = new TestSite({ pages: 100, linksPerPage: 5 });
    await site.start();
    onTestFinished(() => site.stop());
    const workplace = await openWorkplace();
    const seeds = [site.url('/page/1'), site.url('/page/50')];
    const summary = await workplace.json(['crawl', ...seeds, '--follow', '--limit', '7', ...AT_FULL_SPEED]);
    expect(summary).toMatchObject({ discovered: 7, done: 7 });
    expect(summary.leftOut).toMatchObject({ depth: 0, scope: 0, maxPages: 0, limit: expect.any(Number) });
    expect(summary.leftOut.limit).toBeGreaterThan(0);
    const bad = await workplace.run(['crawl', ...seeds, '--limit', '0']);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('expected --limit to be a number of URLs')]);
  });

  test.each(['--limit', '--max-pages'])('a resumed crawl keeps %s and stops at it', async (flag) => {
    const site = new TestSite({ pages: 100, linksPerPage: 5 });
    await site.start();
    onTestFinished(() => site.stop());
    const workplace = await openWorkplace();
    const flags = ['--follow', flag, '12', '--worker-concurrency', '1', ...AT_FULL_SPEED];
    const crawl = workplace.start(['crawl', site.url('/page/1'), '--run', 'mine', ...flags]);
    site.on('/page/2', (_, response) => {
      if (site.count('/page/2') === 1) crawl.signal('SIGINT');
      response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/page/50">further</a>');
    });
    expect((await crawl.ended).code).toBe(130);
    expect((await workplace.json(['status', 'mine'])).discovered).toBeLessThan(12);
    const summary = await workplace.json(['crawl', '--resume', 'mine']);
    expect(summary).toMatchObject({ state: 'finished', discovered: 12, done: 12 });
    const [reached, other] = flag === '--limit' ? (['limit', 'maxPages'] as const) : (['maxPages', 'limit'] as const);
    expect(summary.leftOut).toMatchObject({ [other]: 0 });
    expect(summary.leftOut[reached]).toBeGreaterThan(0);
    expect(site.requests.filter(({ path }) => path.startsWith('/page/'))).toHaveLength(12);
  });

  test('the summary counts links beyond the default depth, and rel=next links are followed to the end', async () => {
    const site = new TestSite({ pages: 5, linksPerPage: 1 });
    await site.start();
    onTestFinished(() => site.stop());
    for (let n = 1; n <= 6; n++) {
      const next = n < 6 ? `<a href="/list/${n + 1}" rel="next">next</a>` : '';
      const html = `${next}<a href="/item/${n}">item</a>`;
      site.on(`/list/${n}`, (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(html));
      site.on(`/item/${n}`, (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('item'));
    }
    const workplace = await openWorkplace();
    const list = ['crawl', site.url('/list/1'), '--follow', ...AT_FULL_SPEED];
    expect(await workplace.json(list)).toMatchObject({ done: 12, leftOut: { depth: 0 } });
    expect(await workplace.json([...list, '--max-depth', '3'])).toMatchObject({ done: 7, leftOut: { depth: 2 } });
    const { stdout } = await workplace.run(['crawl', site.url('/page/1'), '--follow', ...AT_FULL_SPEED]);
    expect(stdout).toContain('1 link more than 3 deep was left out (the default depth; --max-depth changes it).');
  });

  test('patterns that could never match and unknown scopes are refused', async () => {
    const workplace = await openWorkplace();
    const { code, stderr } = await workplace.run([
      'crawl',
      'http://a.test/x',
      '--include',
      'news/*',
      '--scope',
      'site',
    ]);
    expect(code).toBe(78);
    expect(stderr).toContain('expected --include to be patterns that begin with /, * or https://');
    expect(stderr).toContain('expected --scope to be one of host, domain, path, got "site"');
  });

  test('a fleet takes exactly --limit URLs, whichever worker finds them', async () => {
    const { workplace, site } = await openFleet();
    serveDocs(site, 60);
    for (const _ of [1, 2]) workplace.start(['work', ...AT_FULL_SPEED]);
    const seeds = [site.url('/docs/1'), site.url('/docs/2')];
    const flags = ['--limit', '9', '--follow', ...PATTERNS, ...AT_FULL_SPEED];
    const summary = await workplace.json(['produce', ...seeds, '--wait', ...flags]);
    expect(summary).toMatchObject({ discovered: 9, done: 9, leftOut: { maxPages: 0 } });
    expect(summary.leftOut.limit).toBeGreaterThan(0);
  });

  test('a fleet takes no more than --max-pages, and a replay follows links with the scope and URL key of its original run', async () => {
    const { workplace, site } = await openFleet();
    // Fifteen pages go no deeper than this, in any order.
    serveDocs(site, 260);
    let isMended = false;
    site.on('/docs/3/', (_, response) => {
      const html = '<a href="/docs/100">within</a><a href="/page/1">without</a>';
      response.writeHead(isMended ? 200 : 404, { 'content-type': 'text/html' }).end(html);
    });
    site.on('/docs/100', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('last'));
    const workers = [1, 2].map(() => workplace.start(['work', ...AT_FULL_SPEED]));
    const follow = ['--follow', '--max-depth', '50', '--max-pages', '15', ...PATTERNS, ...AT_FULL_SPEED];
    const summary = await workplace.json(['produce', site.url('/docs/1'), '--run', 'mine', '--wait', ...follow]);
    expect(summary).toMatchObject({ discovered: 15, done: 14, failed: 1, maxPagesReached: true });
    expect(paths(site).filter((path) => !path.startsWith('/docs/'))).toEqual([]);
    const mark = `${site.url('/docs/4')}`;
    expect(await workplace.json(['url', `${mark}/`, '--run', 'mine'])).toMatchObject({
      mark,
      runs: [{ run: 'mine', isMarked: true }],
    });

    expect(await workplace.json(['forget', `${mark}/`])).toEqual({ forgotten: 1, kept: 0 });

    isMended = true;
    const replay = await workplace.json([
      'dlq',
      'replay',
      '--reason',
      'http_4xx',
      '--run',
      'mine',
      '--max-pages',
      '90',
    ]);
    expect(replay.runs[0].options).toMatchObject({ scope: 'path', maxPages: 90, urlKey: ['no-trailing-slash'] });
    await expect.poll(async () => (await workplace.json(['status', replay.run])).state).toBe('finished');
    expect(paths(site)).toContain('/docs/100');
    expect(paths(site)).not.toContain('/page/1');
    for (const worker of workers) worker.signal('SIGTERM');
    await Promise.all(workers.map(({ ended }) => ended));
  });
});
