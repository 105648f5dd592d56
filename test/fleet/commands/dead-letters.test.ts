import { describe, expect, inject, test } from 'vitest';
import { malformedLetterOf } from '../../../shared/ports/dead-letter.ts';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import type { Workplace } from '../../support/processes/trawl.ts';
import { letterOf, publishLetters } from '../../support/stores/letters.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a command printed
async function lettersOf(workplace: Workplace, ...flags: string[]): Promise<any[]> {
  const { code, stdout, stderr } = await workplace.run(['dlq', 'export', ...flags]);
  if (code !== 0) throw new Error(stderr);
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

async function urlsLeft(workplace: Workplace): Promise<string[]> {
  return (await lettersOf(workplace)).map(({ url }) => url).toSorted();
}

describe('dead letters', () => {
  test('dlq replay crawls the chosen letters in a new run with the options of the original; the other letters stay', async () => {
    const { workplace, site } = await openFleet();
    let isMended = false;
    for (const path of ['/a', '/b']) {
      site.on(path, (_, response) => {
        response.statusCode = isMended ? 200 : 500;
        response.setHeader('content-type', 'text/html').end('<title>well</title>');
      });
    }
    const worker = workplace.start(['work', ...AT_FULL_SPEED]);
    const seeds = `${site.url('/page/1')}\n${site.url('/a')}\n${site.url('/b')}\n${site.url('/status/404')}\nno-url\n`;
    const flags = ['--run', 'mine', '--max-attempts', '2', '--content', 'text', ...AT_FULL_SPEED];
    expect(await workplace.json(['produce', '-', '--wait', ...flags], seeds)).toMatchObject({ done: 1, failed: 4 });
    const all = await lettersOf(workplace);
    const plan = await workplace.json(['dlq', 'replay', '--reason', 'http_5xx', '--dry-run']);
    expect(plan).toMatchObject({
      dryRun: true,
      letters: 2,
      runs: [{ run: 'mine-replay-1', origin: 'mine', letters: 2 }],
    });
    expect(await lettersOf(workplace), 'a dry run changes nothing').toEqual(all);
    expect((await workplace.run(['status', 'mine-replay-1'])).code).toBe(1);

    isMended = true;
    const replay = await workplace.json(['dlq', 'replay', '--reason', 'http_5xx', '--rate', '600/min']);
    expect(replay).toMatchObject({
      run: 'mine-replay-1',
      letters: 2,
      malformed: 0,
      runs: [{ accepted: 2, known: 0, options: { maxAttempts: 2, content: 'text', intervalMs: 100, dedup: 'ever' } }],
    });
    await expect
      .poll(async () => await workplace.json(['status', replay.run]))
      .toMatchObject({ state: 'finished', discovered: 2, done: 2 });
    expect((await workplace.records(replay.run)).map(({ title }) => title)).toEqual(['well', 'well']);
    expect(await urlsLeft(workplace)).toEqual([site.url('/status/404'), 'no-url'].toSorted());

    const rest = await workplace.json(['dlq', 'replay', '--run', 'mine']);
    expect(rest).toMatchObject({ run: 'mine-replay-2', letters: 1, malformed: 1 });
    expect((await workplace.run(['dlq', 'replay', '--run', 'mine'])).stdout).toContain(
      "1 malformed letter can't be replayed and will stay",
    );
    worker.signal('SIGTERM');
    await worker.ended;
  });

  test('failures whose letters are gone are named by list and replay with a command that crawls them again', async () => {
    const { workplace, site } = await openFleet();
    let isMended = false;
    site.on('/a', (_, response) => {
      response.writeHead(isMended ? 200 : 500, { 'content-type': 'text/html' }).end('<title>well</title>');
    });
    workplace.start(['work', ...AT_FULL_SPEED]);
    const flags = ['--wait', '--max-attempts', '1', ...AT_FULL_SPEED];
    await workplace.json(['produce', '-', '--run', 'mine', ...flags], `${site.url('/a')}\n${site.url('/page/1')}`);
    const [listed, replayed] = [
      ['dlq', 'list', '--run', 'mine'],
      ['dlq', 'replay', '--run', 'mine'],
    ];
    expect((await workplace.run(listed)).stderr).toBe('1 dead letter\n');
    await workplace.run(['dlq', 'purge', '--run', 'mine']);
    for (const command of [listed, replayed]) {
      const { stdout, stderr } = await workplace.run(command);
      expect(stdout + stderr).toMatch(
        /dropped by a policy or by hand: .* records mine --failed\. To crawl them again: /,
      );
      expect(stdout + stderr).toMatch(/ records mine --failed --format csv --fields url \| .* produce -\n/);
    }
    const failed = await workplace.run(['records', 'mine', '--failed', '--format', 'csv', '--fields', 'url']);
    isMended = true;
    expect(await workplace.json(['produce', '-', '--run', 'again', ...flags], failed.stdout)).toMatchObject({
      discovered: 1,
      done: 1,
    });
  });

  test('a replay killed half-way is continued by the next one, and each letter is crawled once', async () => {
    const { workplace, site, redis, keyPrefix, queuePrefix } = await openFleet({ pages: 1_500 });
    const urls = Array.from({ length: 1_500 }, (_, i) => site.url(`/page/${i + 1}`));
    const transport = await publishLetters(
      inject('rabbitmqUrl'),
      queuePrefix,
      urls.map((url) => letterOf(url, { run: 'origin' })),
    );
    const flags = ['--rate', 'none', '--content', 'text'];
    const first = workplace.start(['dlq', 'replay', ...flags]);
    const discovered = async (): Promise<number> =>
      Number(await redis.hget(`${keyPrefix}run:origin-replay-1`, 'discovered'));
    await expect.poll(discovered, { interval: 1 }).toBeGreaterThan(0);
    first.signal('SIGKILL');
    await first.ended;
    expect(await discovered()).toBeLessThan(1_500);
    await expect.poll(async () => (await transport.depths()).failed.ready).toBeGreaterThan(0);
    const second = await workplace.run(['dlq', 'replay', ...flags]);
    expect(second.stdout).toContain('It was begun by an interrupted replay');
    expect(second.stdout).toContain(
      "Redis has forgotten run origin: the options are those of this command's settings.",
    );
    // The broker takes a moment to give back what a killed process held.
    await expect
      .poll(async () => {
        await workplace.json(['dlq', 'replay', ...flags]);
        return (await transport.depths()).failed.ready;
      })
      .toBe(0);
    workplace.start(['work', ...AT_FULL_SPEED]);
    await expect
      .poll(async () => (await workplace.json(['status'])).runs, { interval: 500 })
      .toSatisfy((runs) => runs.every(({ state }: { state: string }) => state === 'finished'));
    const { runs } = await workplace.json(['status']);
    expect(runs.reduce((sum: number, { done }: { done: number }) => sum + done, 0)).toBe(1_500);
    expect((await transport.depths()).failed.ready).toBe(0);
    expect(site.requests.filter(({ path }) => path.startsWith('/page/')).length).toBe(1_500);
  });

  test('dlq replay opens one run per original run, and replays at most --limit letters', async () => {
    const { workplace, queuePrefix } = await openFleet();
    const letters = ['one', 'two'].flatMap((run) =>
      [1, 2, 3].map((n) => letterOf(`http://a.test/${run}/${n}`, { run })),
    );
    await publishLetters(inject('rabbitmqUrl'), queuePrefix, letters);
    const { runs, run } = await workplace.json(['dlq', 'replay', '--limit', '4']);
    expect([run, runs.map((each: { run: string; letters: number }) => [each.run, each.letters])]).toEqual([
      null,
      [
        ['one-replay-1', 3],
        ['two-replay-1', 1],
      ],
    ]);
    expect((await urlsLeft(workplace)).length).toBe(2);
    expect(await workplace.json(['dlq', 'replay', '--limit', '1'])).toMatchObject({ run: 'two-replay-2', letters: 1 });
  });

  test('dlq export prints every letter in full, malformed ones as they came, and dlq purge deletes only what matches', async () => {
    const { workplace, queuePrefix } = await openFleet();
    const bytes = new Uint8Array([0x7b, 0xff, 0x00]);
    await publishLetters(inject('rabbitmqUrl'), queuePrefix, [
      letterOf('http://a.test/late', { at: 1_800_000_060_000 }),
      letterOf('http://a.test/1', { reason: 'dns' }),
      letterOf('http://b.test:81/1'),
      malformedLetterOf(undefined, bytes, 'the body is not JSON'),
      malformedLetterOf('strange', new TextEncoder().encode('{"url":7}'), 'expected a string'),
    ]);
    const exported = await lettersOf(workplace);
    expect(exported.length).toBe(5);
    expect(exported).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          id: expect.stringMatching(/^gone:[0-9a-f]{32}$/),
          run: 'gone',
          url: 'http://a.test/1',
          reason: 'dns',
          error: 'no answer within 30 s',
          attempts: [{ at: 1_800_000_000_000, worker: 'w-1', reason: 'dns', error: 'no answer within 30 s' }],
          firstSeen: '2027-01-15T08:00:00.000Z',
          failedAt: '2027-01-15T08:00:00.000Z',
          headers: { 'x-attempt': 1, 'x-first-seen': 1_800_000_000_000, 'x-last-error': 'dns: no answer within 30 s' },
        }),
        {
          id: 'malformed',
          reason: 'malformed',
          error: 'malformed: the body is not JSON',
          rawBase64: 'e/8A',
          headers: expect.anything(),
        },
        {
          id: 'strange',
          reason: 'malformed',
          error: 'malformed: expected a string',
          raw: '{"url":7}',
          headers: expect.anything(),
        },
      ]),
    );
    expect(
      (await workplace.json(['dlq', 'list']))
        .map(({ url }: { url: string }) => url)
        .slice(0, 3)
        .at(-1),
    ).toBe('http://a.test/late');
    expect((await lettersOf(workplace, '--limit', '2')).length).toBe(2);
    expect((await lettersOf(workplace, '--host', 'b.test:81')).map(({ url }) => url)).toEqual(['http://b.test:81/1']);

    const refused = await workplace.run(['dlq', 'purge', '--limit', '1']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('give --all')]);
    expect((await workplace.run(['dlq', 'purge', '--host', 'a.test', '--dry-run'])).stdout).toBe(
      '2 dead letters would be deleted; nothing was changed\n',
    );
    expect((await urlsLeft(workplace)).length).toBe(5);
    expect((await workplace.run(['dlq', 'purge', '--host', 'a.test'])).stdout).toBe('2 dead letters deleted\n');
    expect(await workplace.json(['dlq', 'purge', '--reason', 'malformed', '--limit', '1'])).toMatchObject({
      purged: 1,
    });
    expect((await lettersOf(workplace)).length).toBe(2);
    expect(await workplace.json(['dlq', 'purge', '--all'])).toEqual({ purged: 2, matching: 2, dryRun: false });
    expect(await lettersOf(workplace)).toEqual([]);
    expect((await workplace.run(['dlq', 'list', '--reason', 'bad-luck'])).code).toBe(2);
  });
});
