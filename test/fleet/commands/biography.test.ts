import { describe, expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';

describe("a URL's biography", () => {
  test('shows where the URL waits and what for, then its outcome', async () => {
    const { workplace, site } = await openFleet({ pages: 50 });
    const [good, bad] = [site.url('/page/1'), site.url('/status/500')];
    const host = new URL(good).host;
    const tell = async (url: string, ...flags: string[]): Promise<string> =>
      (await workplace.run(['url', url, ...flags])).stdout;
    expect(await tell(good)).toBe(
      `${good}\nNot in crawled_urls.\nNo run in Redis knows more about it.\nTo see which rule of a run leaves it out: trawl url URL --run RUN\n`,
    );
    expect((await workplace.run(['url', good, '--run', 'nobody'])).code).toBe(1);

    await workplace.run(['pause', '--host', host, '--reason', 'they called']);
    await workplace.json(
      ['produce', '-', '--run', 'mine', '--max-attempts', '1', ...AT_FULL_SPEED],
      `${bad}\n${good}\n`,
    );
    expect(await tell(good)).toContain(
      'Run mine (running): waits in the normal list of its host, 1 ahead of it: the host is paused by hand (they called).',
    );
    await workplace.run(['pause', 'mine', '--reason', 'a look']);
    expect(await tell(good)).toContain('The run is paused (a look): trawl resume mine');
    await workplace.run(['resume', '--host', host]);
    await workplace.run(['resume', 'mine']);
    await workplace.json(['produce', site.url('/page/2'), '--run', 'mine', ...AT_FULL_SPEED]);
    expect(await workplace.json(['url', good])).toMatchObject({
      url: good,
      mark: good,
      known: true,
      runs: [{ run: 'mine', place: { at: 'queued', queue: 'normal', release: expect.any(Number) } }],
      attempts: [],
      letters: [],
    });

    const worker = workplace.start(['work', ...AT_FULL_SPEED]);
    await expect.poll(async () => (await workplace.json(['status', 'mine'])).state).toBe('finished');
    expect(await tell(good)).toMatch(/Run mine \(finished\): done: HTTP 200, .* by .*, attempt 1\./);
    const told = await tell(bad, '--run', 'mine');
    expect(told).toMatch(/Run mine \(finished\): failed: http_5xx \(HTTP 500\), .*, attempt 1\./);
    expect(told).toMatch(/Failed attempts of the last 24 hours:\n {2}\S+ \S+ +\S+ +http_5xx +500/);
    expect(told).toMatch(/Dead letter mine:[0-9a-f]{32}: http_5xx/);
    expect(await tell(site.url('/page/3'), '--run', 'mine')).toContain(
      'Run mine (finished): not known; it follows no links, except where a step does (--follow).',
    );
    worker.signal('SIGTERM');
    await worker.ended;
  });

  test('after trawl forget of a URL, a host or everything, those pages are crawled again', async () => {
    const { workplace, site } = await openFleet({ pages: 60 });
    const sitemap = site.url('/sitemap.xml');
    workplace.start(['work', ...AT_FULL_SPEED]);
    const crawl = async (): Promise<number> =>
      (await workplace.json(['produce', sitemap, '--wait', ...AT_FULL_SPEED])).done;
    expect([await crawl(), await crawl()]).toEqual([60, 0]);
    expect(await workplace.json(['forget', site.url('/page/7#top')])).toEqual({ forgotten: 1, kept: 0 });
    expect(await crawl()).toBe(1);
    expect((await workplace.run(['forget', '--host', new URL(sitemap).host])).stdout).toMatch(
      /^60 marks of \S+ forgotten\n$/,
    );
    expect(await crawl()).toBe(60);
    expect((await workplace.run(['forget', '--all', '--dry-run'])).stdout).toBe(
      '60 marks would be forgotten\nNothing was changed.\n',
    );
    expect((await workplace.run(['forget', '--all'])).stdout).toBe('60 marks forgotten\n');
  });

  test('forget keeps the mark of a waiting URL until its run is cancelled, and refuses an ambiguous target', async () => {
    const { workplace } = await openFleet();
    await workplace.run(['pause', '--host', 'a.test']);
    await workplace.json(['produce', 'https://a.test/1', '--run', 'waits', ...AT_FULL_SPEED]);
    const kept = await workplace.run(['forget', 'https://a.test/1']);
    expect([kept.code, kept.stdout]).toEqual([
      1,
      expect.stringContaining('1 mark of https://a.test/1 stays: its URL waits or is in flight'),
    ]);
    await workplace.run(['cancel', 'waits']);
    expect(await workplace.json(['forget', '--all'])).toEqual({ forgotten: 0, kept: 0 });
    expect((await workplace.run(['url', 'a.test/1'])).stdout).toContain('did you mean https://a.test/1');
    for (const args of [['forget'], ['forget', 'https://a.test/', '--all'], ['forget', '--host', 'a/b']])
      expect((await workplace.run(args)).code).toBe(2);
  });
});
