import { describe, expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet, pagesFetched } from '../../support/processes/fleet.ts';

const FLEET_WIDE_MS = 2_000;

describe('steering a fleet', () => {
  test('a paused run makes no more requests after 2 s, on any worker, and resumes where it stopped', async () => {
    const { workplace, site } = await openFleet({ pages: 600 });
    for (let i = 0; i < 2; i++) workplace.start(['work', ...AT_FULL_SPEED, '--worker-concurrency', '2']);
    const flags = ['--run', 'mine', ...AT_FULL_SPEED];
    for (let n = 1; n <= 600; n++) {
      site.on(`/page/${n}`, (_, response) => void setTimeout(() => response.end('<title>slow</title>'), 20));
    }
    const whole = workplace.json(['produce', site.url('/sitemap-index.xml.gz'), '--wait', ...flags]);
    await site.arrival('/page/20');
    expect(await workplace.json(['pause', 'mine', '--reason', 'a look'])).toMatchObject({
      run: 'mine',
      was: 'running',
      is: 'paused',
      pauseReason: 'a look',
    });
    const pausedAt = Date.now();
    await expect.poll(async () => (await workplace.json(['status', 'mine'])).inFlight).toBe(0);
    const status = await workplace.json(['status', 'mine']);
    expect(status).toMatchObject({ state: 'paused', bottleneck: 'paused (a look); trawl resume mine' });
    expect(status.done + status.waiting).toBe(status.discovered);
    expect(Math.max(...site.requests.map(({ at }) => at))).toBeLessThan(pausedAt + FLEET_WIDE_MS);
    expect((await workplace.run(['status'])).stdout).toMatch(/mine +paused .* paused \(a look\); trawl resume mine/);
    expect((await workplace.run(['resume', 'mine'])).stdout).toMatch(/^Run mine: paused → running\./);
    expect(await whole).toMatchObject({ discovered: 600, done: 600, failed: 0 });
    expect(pagesFetched(site).length).toBe(600);
    expect(await workplace.run(['pause', 'mine'])).toMatchObject({
      code: 0,
      stdout: 'Run mine is finished: there is nothing to pause.\n',
    });
  });

  test('a paused host gets no requests while others do, and is shown with its reason until it is resumed', async () => {
    const { workplace, site, redis, keyPrefix } = await openFleet({ pages: 40 });
    const [host, other] = [new URL(site.url('/')).host, new URL(site.url('/')).port];
    expect(await workplace.json(['pause', '--host', host, '--reason', 'they called'])).toEqual({
      host,
      was: { paused: false },
      is: { paused: true, byHand: true, reason: 'they called' },
    });
    workplace.start(['work', ...AT_FULL_SPEED]);
    const urls = [site.url('/page/1'), site.url('/page/2'), `http://localhost:${other}/page/3`];
    await workplace.json(['produce', '-', '--run', 'mine', ...AT_FULL_SPEED], urls.join('\n'));
    await expect.poll(async () => (await workplace.json(['status', 'mine'])).done).toBe(1);
    expect(await redis.hgetall(`${keyPrefix}ratelimit:${host}`)).toMatchObject({ reason: 'they called', by_hand: '1' });
    const status = await workplace.json(['status', 'mine']);
    expect(status).toMatchObject({
      waiting: 2,
      dueHosts: 0,
      pausedHostCount: 1,
      pausedHosts: [{ host, reason: 'they called', byHand: true }],
      bottleneck: `waiting for ${host}: paused by hand (they called); trawl resume --host ${host}`,
    });
    expect((await workplace.run(['status'])).stdout).toContain('paused by hand (they called)');
    expect(pagesFetched(site)).toEqual(['/page/3']);
    expect((await workplace.run(['resume', '--host', host])).stdout).toBe(
      `Host ${host} was paused by hand (they called); requests resume.\n`,
    );
    await expect.poll(async () => (await workplace.json(['status', 'mine'])).done).toBe(3);
    expect((await workplace.run(['resume', '--host', host])).stdout).toContain('was not paused');
  });

  test('cancel drops the waiting URLs, and the next run can take them', async () => {
    const { workplace } = await openFleet();
    const urls = Array.from({ length: 3_000 }, (_, i) => `http://a.test/${i}`).join('\n');
    await workplace.json(['produce', '-', '--run', 'mine'], urls);
    const cancelled = await workplace.json(['cancel', 'mine']);
    expect(cancelled).toMatchObject({ was: 'running', is: 'cancelled', waiting: 0, cancelled: 2_000, inFlight: 1_000 });
    expect(await workplace.run(['resume', 'mine'])).toMatchObject({ code: 1 });
    const next = await workplace.json(['produce', '-', '--run', 'next'], urls);
    expect(next).toMatchObject({ discovered: 2_000, duplicate: 1_000 });
  });

  test('one command steers several runs, local ones and those of the fleet, and an unknown run stops none of the others', async () => {
    const { workplace, site } = await openFleet();
    for (const run of ['one', 'two']) await workplace.json(['produce', '-', '--run', run], `http://${run}.test/\n`);
    const paused = await workplace.run(['pause', 'one', 'nobody', 'two', 'one', '--json']);
    expect([paused.code, paused.stderr]).toEqual([
      1,
      'trawl: no run nobody is known to this Redis; trawl status lists the known ones\n',
    ]);
    const lines = paused.stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { run: 'one', is: 'paused' },
      { run: 'two', is: 'paused' },
    ]);
    await workplace.json(['crawl', site.url('/page/1'), '--run', 'here', ...AT_FULL_SPEED]);
    const { code, stdout } = await workplace.run(['cancel', 'two', 'here', 'one']);
    expect([code, stdout.match(/^Run \w+/gm)]).toEqual([0, ['Run here', 'Run two', 'Run one']]);
  });

  test('a lost producer is shown with advice, and seal, which it names, works', async () => {
    const { workplace, redis, keyPrefix } = await openFleet();
    const producer = workplace.start(['produce', '-', '--run', 'mine'], 'http://a.test/1\n');
    await producer.ended;
    // What a producer that died a minute and a half ago leaves behind.
    await redis.zadd(`${keyPrefix}run:mine:producers`, Date.now() - 30_000, 'host-3fa1');
    const status = await workplace.json(['status', 'mine']);
    expect(status).toMatchObject({
      sealed: false,
      producers: { open: 0, lost: 1 },
      lostProducers: [{ id: 'host-3fa1' }],
    });
    expect((await workplace.run(['status', 'mine'])).stdout).toMatch(
      /producer lost: host-3fa1, silent for [^;]+; run it again with trawl produce --run mine …, or trawl seal mine/,
    );
    expect((await workplace.run(['seal', 'mine'])).stdout).toMatch(
      /^Run mine is sealed, no more seeds will come \(producers: 1 lost\): running → running, 1 left/,
    );
    expect((await workplace.run(['seal', 'mine'])).stdout).toMatch(/^Run mine was sealed already/);
  });

  test('steering an unknown run fails, as does naming a run and a host, neither, or an invalid one', async () => {
    const { workplace } = await openFleet();
    for (const verb of ['pause', 'resume', 'cancel', 'seal']) {
      const { code, stdout, stderr } = await workplace.run([verb, 'nobody', '--json']);
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        'trawl: no run nobody is known to this Redis; trawl status lists the known ones\n',
      ]);
      expect((await workplace.run([verb, '--help'])).code).toBe(0);
    }
    for (const args of [['pause'], ['resume', 'r', '--host', 'a.test'], ['pause', '--host', 'a/b'], ['seal', 'No!']]) {
      expect((await workplace.run(args)).code, args.join(' ')).toBe(2);
    }
  });
});
