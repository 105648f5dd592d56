import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';
import { describe, expect, inject, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { type Fleet, openFleet } from '../../support/processes/fleet.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { type AtEnd, sharedByTests } from '../../support/shared-by-tests.ts';

/** A fleet that has crawled the run `mixed`: two pages, a 404, a 500 given up, one skipped page and one malformed URL. */
async function crawl(atEnd: AtEnd): Promise<Fleet> {
  const fleet = await openFleet({}, {}, atEnd);
  const { workplace, site } = fleet;
  const paths = ['/page/1', '/page/2', '/status/404', '/status/500', '/type?ct=image/png'];
  const urls = [...paths.map((path) => site.url(path)), 'htp://x'].join('\n');
  const flags = ['--run', 'mixed', '--max-attempts', '1', ...AT_FULL_SPEED];
  const worker = workplace.start(['work', '--exit-when-idle', ...AT_FULL_SPEED]);
  await worker.says(/consuming/);
  const { code } = await workplace.run(['produce', '-', '--wait', ...flags], urls);
  expect([code, (await worker.ended).code]).toEqual([0, 0]);
  return fleet;
}

describe('after a run', () => {
  const crawled = sharedByTests(crawl);

  test('status RUN prints the counters of the run, for people and as JSON', async () => {
    const { workplace } = crawled();
    const status = await workplace.json(['status', 'mixed']);
    expect(status).toEqual({
      run: 'mixed',
      state: 'finished',
      discovered: 6,
      duplicate: 0,
      waiting: 0,
      inFlight: 0,
      done: 2,
      skipped: 1,
      failed: 3,
      cancelled: 0,
      reasons: { failed: { http_4xx: 1, http_5xx: 1, malformed: 1 }, skipped: { content_type: 1 } },
      leftOut: { depth: 0, scope: 0, maxPages: 0, limit: 0, condition: 0 },
      hostsDown: { count: 0, named: [] },
      bytes: expect.any(Number),
      bytesSaved: 0,
      seconds: expect.any(Number),
      pagesPerSecond: expect.any(Number),
      records: 2,
      crawler: 'page',
      bottleneck: null,
      etaSeconds: 0,
      workers: 0,
      incremental: false,
      recrawlAfterSeconds: null,
      sealed: true,
      pauseReason: null,
      producers: { open: 0, lost: 0 },
      lostProducers: [],
      dueHosts: 0,
      pausedHostCount: 0,
      pausedHosts: [],
    });
    expect(status.bytes).toBeGreaterThan(2_000);
    const { code, stdout, stderr } = await workplace.run(['status', 'mixed']);
    expect(stdout).toMatch(/^Run mixed finished after .*: 2 pages, .* pages\/s\n/);
    expect(stdout).toMatch(/ 3 failed: (http_4xx|http_5xx|malformed) 1, /);
    expect(stdout).toMatch(/ 1 skipped: content_type 1\n/);
    expect([code, stderr]).toEqual([0, '']);
    const watched = await workplace.run(['status', 'mixed', '--watch', '--json']);
    expect(
      watched.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).state),
      'a run that is over',
    ).toEqual(['finished']);
  });

  test('status prints one line per run, the newest first, and the workers', async () => {
    const { workplace } = crawled();
    await workplace.json(['produce', 'http://a.test/', '--run', 'newer']);
    const all = await workplace.json(['status']);
    expect(all.runs.map(({ run, state }: { run: string; state: string }) => [run, state])).toEqual([
      ['newer', 'running'],
      ['mixed', 'finished'],
    ]);
    expect(all.workers).toEqual([]);
    const { stdout } = await workplace.run(['status']);
    const [newer, mixed, workers] = stdout.split('\n');
    expect(newer).toMatch(/^newer +running +0\/1 /);
    expect(mixed).toMatch(/^mixed +finished +6\/6 +3 failed /);
    expect(workers).toBe('Workers: none is running (trawl work)');
    expect(stdout).toContain('\nDue hosts: 0\n');
  });

  test('dlq list and dlq show filter and print dead letters without taking them', async () => {
    const { workplace, site } = crawled();
    const reasons = async (...filter: string[]): Promise<string[]> => {
      const letters = await workplace.json(['dlq', 'list', ...filter]);
      return letters.map(({ reason }: { reason: string }) => reason).toSorted();
    };
    const all = ['http_4xx', 'http_5xx', 'malformed'];
    expect(await reasons()).toEqual(all);
    expect(await reasons('--reason', 'http_4xx')).toEqual(['http_4xx']);
    expect(await reasons('--host', site.host)).toEqual(['http_4xx', 'http_5xx']);
    expect(await reasons('--run', 'mixed')).toEqual(all);
    expect(await reasons('--run', 'another')).toEqual([]);
    expect((await reasons('--limit', '2')).length).toBe(2);

    const { stdout, stderr } = await workplace.run(['dlq', 'list', '--reason', 'http_4xx']);
    const url = site.url('/status/404');
    const line = stdout.trimEnd();
    expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +http_4xx +404 +http:\/\/\S+ +mixed:[0-9a-f]{32}$/);
    expect([line.includes(url), stderr]).toEqual([true, '1 dead letter; 3 in all\n']);
    const some = await workplace.run(['dlq', 'list', '--host', site.host, '--limit', '1']);
    expect(some.stderr).toBe('1 of 2 dead letters; 3 in all\n');
    expect((await workplace.run(['dlq', 'list', '--limit', '2'])).stderr).toBe('2 of 3 dead letters\n');

    const id = line.split(/ +/).at(-1) ?? '';
    const letter = await workplace.json(['dlq', 'show', id]);
    expect(letter).toEqual({
      id,
      v: 1,
      run: 'mixed',
      url,
      step: '',
      depth: 0,
      queue: 'normal',
      reason: 'http_4xx',
      status: 404,
      error: 'HTTP 404',
      attempts: [expect.objectContaining({ reason: 'http_4xx', status: 404 })],
      firstSeen: expect.stringMatching(/Z$/),
      failedAt: expect.stringMatching(/Z$/),
    });
    expect(await workplace.json(['dlq', 'show', url]), 'by its URL').toEqual(letter);
    expect(JSON.parse((await workplace.run(['dlq', 'show', id])).stdout), 'for people').toEqual(letter);
    expect(await reasons(), 'nothing was taken').toEqual(all);
  });

  test('records prints the pages, and with --failed the failures, as lines or as CSV', async () => {
    const { workplace, site } = crawled();
    expect((await workplace.records('mixed')).map(({ url }) => url).toSorted()).toEqual([
      site.url('/page/1'),
      site.url('/page/2'),
    ]);
    const failed = await workplace.records('mixed', '--failed');
    expect(failed.map(({ url, outcome, reason, status }) => [url, outcome, reason, status]).toSorted()).toEqual([
      ['htp://x', 'failed', 'malformed', undefined],
      [site.url('/status/404'), 'failed', 'http_4xx', 404],
      [site.url('/status/500'), 'failed', 'http_5xx', 500],
    ]);
    expect(failed.some((record) => 'data' in record)).toBe(false);
    const { stdout } = await workplace.run(['records', 'mixed', '--failed', '--format', 'csv']);
    expect(stdout.split('\r\n').length).toBe(2 + failed.length);
    const toFile = await workplace.run(['records', 'mixed', '--failed', '-o', 'failed.jsonl']);
    expect([toFile.stdout, toFile.stderr, toFile.code]).toEqual([
      '',
      `${failed.length} failures written to failed.jsonl\n`,
      0,
    ]);
  });
});

describe('exit codes', () => {
  // biome-ignore format: a table
  test.each([
    [['status', 'nobody'],                      1,  'no run nobody is known to this Redis'],
    [['status', 'No Good'],                     2,  'expected a run id'],
    [['dlq', 'show', 'nobody:0'],               1,  'no dead letter has the id or the URL nobody:0'],
    [['dlq', 'show'],                           2,  "missing required argument 'letter'"],
    [['dlq', 'list', '--limit', 'many'],        2,  'expected --limit to be a whole number, from 1, got "many"'],
    [['dlq', 'list', '--limit', '1e3'],         2,  'expected --limit to be a whole number, from 1, got "1e3"'],
    [['dlq', 'nonsense'],                       2,  "unknown command 'nonsense'"],
    [['records', '--failed', '--all'],          2,  '--failed'],
    [['produce'],                               2,  'nothing to produce'],
    [['produce', 'a.test'],                     2,  'did you mean https://a.test/'],
    [['produce', 'http://a.test/', '--run', 'No Good'], 2, 'expected a run id'],
    [['produce', 'http://a.test/', '--crawler', 'nobody'], 78, 'expected CRAWLER to be the name of a crawler'],
    [['work', '--worker-concurrency', '0'],     78, 'expected --worker-concurrency to be a whole number from 1 to 2048, or auto'],
    [['work', '--redis-url', 'http://a.test'],  78, 'expected --redis-url to be'],
    [['doctor', '--worker'],                    1,  `no live worker on ${hostname()}`],
    [['doctor', '--help'],                      0,  '--worker'],
  ])('trawl %j exits with %i and says "%s"', async (args, code, said) => {
    const { workplace } = await openFleet();
    const ended = await workplace.run(args);
    expect(ended.stdout + ended.stderr).toContain(said);
    expect(ended.code).toBe(code);
    if (code !== 0) expect(ended.stderr).not.toMatch(/a bug in Trawl|\n {4}at /);
  });

  test('a KEY_PREFIX without a QUEUE_PREFIX exits with 78: two fleets could share a broker', async () => {
    const workplace = await openWorkplace({ KEY_PREFIX: 'mine' });
    for (const args of [['work'], ['produce', 'http://a.test/'], ['status']]) {
      const { code, stderr } = await workplace.run(args);
      expect([code, stderr.trimEnd().split('\n').length]).toEqual([78, 1]);
      expect(stderr).toContain('QUEUE_PREFIX');
    }
  });

  test('produce --wait exits with 1 if every URL failed, with 0 if only some did, and then with 3 under --strict', async () => {
    const { workplace, site } = await openFleet();
    workplace.start(['work', ...AT_FULL_SPEED]);
    const wait = async (paths: string[], ...flags: string[]): Promise<number | null> => {
      const urls = paths.map((path) => site.url(path)).join('\n');
      return (await workplace.run(['produce', '-', '--wait', '--fresh', ...flags, ...AT_FULL_SPEED], urls)).code;
    };
    expect(await wait(['/status/404'])).toBe(1);
    expect(await wait(['/status/404', '/page/1'])).toBe(0);
    expect(await wait(['/status/404', '/page/1'], '--strict')).toBe(3);
    expect(await wait(['/page/1'], '--strict')).toBe(0);
  });

  test('Ctrl-C on --wait leaves the run going and says so, and on a worker it ends the worker', async () => {
    const { workplace, site } = await openFleet();
    const worker = workplace.start(['work', ...AT_FULL_SPEED]);
    await worker.says(/consuming/);
    const waiting = workplace.start(['produce', site.url('/hang'), '--run', 'hung', '--wait', ...AT_FULL_SPEED]);
    await site.arrival('/hang');
    waiting.signal('SIGINT');
    const ended = await waiting.ended;
    expect([ended.code, ended.stdout]).toEqual([130, '']);
    expect(ended.stderr).toContain('run hung continues. Watch it with: trawl status hung --watch');
    expect(await workplace.json(['status', 'hung'])).toMatchObject({ state: 'running', inFlight: 1, workers: 1 });
    worker.signal('SIGINT');
    await worker.says(/stopping: finishing the pages in hand/);
    // Sent any sooner, it would count as the same one.
    await sleep(200);
    worker.signal('SIGINT');
    const { code, stderr } = await worker.ended;
    expect(code).toBe(130);
    expect(stderr, 'the second one does not wait').toContain('Stopped at once.');
  });

  test('work and produce exit with 78 if the queue exists with different arguments, and leave it alone; doctor says so', async () => {
    const { workplace, queuePrefix } = await openFleet();
    const connection = await connect(inject('rabbitmqUrl'));
    const channel = await connection.createChannel();
    await channel.assertQueue(`${queuePrefix}url_queue_ttl`, { arguments: { 'x-queue-type': 'quorum' } });
    const said = String.raw`queue \S+url_queue_ttl: expected x-\S+ to be .+, found .+ Set QUEUE_PREFIX`;
    // Before the others declare the exchanges.
    expect((await workplace.run(['doctor'])).stdout).toMatch(new RegExp(`problem {2}RabbitMQ: ${said}`));
    for (const args of [['work'], ['produce', 'http://a.test/']]) {
      const { code, stdout, stderr } = await workplace.run(args);
      expect(stderr).toMatch(new RegExp(`trawl: ${said}`));
      expect([code, stdout]).toEqual([78, '']);
    }
    expect((await channel.checkQueue(`${queuePrefix}url_queue_ttl`)).messageCount).toBe(0);
    await connection.close();
  });
});

describe('work --exit-when-idle', () => {
  test('stays while no run is known or a run waits for seeds, and ends once all runs have ended', async () => {
    const { workplace, site } = await openFleet();
    const worker = workplace.start(['work', '--exit-when-idle', ...AT_FULL_SPEED]);
    await worker.says(/consuming/);
    let answer = (): void => {};
    site.on('/hang.xml', (_, response) => {
      answer = () => void response.end(`<urlset><url><loc>${site.url('/page/1')}</loc></url></urlset>`);
    });
    // A run that a producer has open, with nothing in it yet.
    const slow = workplace.start(['produce', site.url('/hang.xml'), '--run', 'slow', ...AT_FULL_SPEED]);
    await site.arrival('/hang.xml');
    await workplace.json(['produce', site.url('/page/2'), '--wait', '--run', 'quick', ...AT_FULL_SPEED]);
    // The worker checks every second whether all runs are over, and so does this.
    const watch = workplace.start(['status', 'slow', '--watch', '--json']);
    await watch.says(/(?:.*"running".*\n){4}/);
    watch.signal('SIGINT');
    expect((await watch.ended).code).toBe(130);
    expect(await workplace.json(['status', 'quick'])).toMatchObject({ state: 'finished', done: 1, workers: 1 });
    expect(await workplace.json(['status', 'slow'])).toMatchObject({ state: 'running', discovered: 0 });
    answer();
    expect((await slow.ended).code).toBe(0);
    expect((await worker.ended).code).toBe(0);
    expect(await workplace.json(['status', 'slow'])).toMatchObject({ state: 'finished', done: 1 });
  });
});

describe('doctor', () => {
  test('reports ok for healthy servers and exits with 0', async () => {
    const { workplace } = await openFleet();
    const { code, stdout, stderr } = await workplace.run(['doctor', '--contact-url', 'https://a.test/bot']);
    expect(stdout.split('\n').map((line) => line.replace(/(answers);.*/, '$1'))).toEqual([
      'ok       settings: can be read',
      expect.stringMatching(/^ok {7}User-Agent: TrawlBot\/\S+ \(\+https:\/\/a\.test\/bot\)$/),
      'ok       crawler: page',
      'ok       routing rules: 2 in force',
      'ok       records: ./output can be written to',
      'ok       Redis: answers',
      'ok       RabbitMQ: answers',
      '',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    const { ok, findings } = await workplace.json(['doctor']);
    expect(ok).toBe(true);
    expect(findings.filter(({ state }: { state: string }) => state !== 'ok')).toEqual([
      { what: 'User-Agent', state: 'warning', said: expect.stringContaining('Set CONTACT_URL') },
    ]);
  });

  test('reports all problems at once, each with what to check, and exits with 1', async () => {
    const workplace = await openWorkplace({
      RABBITMQ_URL: 'amqp://guest:secret@127.0.0.1:1',
      REDIS_URL: 'redis://:secret@127.0.0.1:1',
      CRAWLER: 'nobody',
      OUTPUT_DIR: '/dev/null/output',
    });
    const { code, stdout, stderr } = await workplace.run(['doctor', '--json']);
    const { ok, findings } = JSON.parse(stdout);
    expect([code, ok, stderr]).toEqual([1, false, '']);
    const problems = findings.filter(({ state }: { state: string }) => state === 'problem');
    expect(problems.map(({ what, said }: { what: string; said: string }) => `${what}: ${said}`)).toEqual([
      'crawler: expected CRAWLER to be the name of a crawler in crawlers/ (CRAWLERS_DIR), or its file, got "nobody"',
      expect.stringContaining('records: '),
      "Redis: Redis at 127.0.0.1:1 can't be reached, after 1 attempt: connect ECONNREFUSED 127.0.0.1:1. Check REDIS_URL or REDIS_HOST, and that it runs: docker compose up -d redis",
      "RabbitMQ: RabbitMQ at 127.0.0.1:1 can't be reached, after 1 attempt: connect ECONNREFUSED 127.0.0.1:1. Check RABBITMQ_URL or RABBITMQ_HOST, and that it runs: docker compose up -d rabbitmq",
    ]);
    expect(stdout).not.toContain('secret');
  });

  test('--worker exits with 0 while a worker of this machine consumes, and with 1 once it has ended', async () => {
    const { workplace } = await openFleet();
    const worker = workplace.start(['work', ...AT_FULL_SPEED]);
    await worker.says(/consuming/);
    const { code, stdout } = await workplace.run(['doctor', '--worker']);
    expect(stdout).toMatch(/^\S+-[0-9a-f]{8} is consuming, last heartbeat .* ago\n$/);
    expect(code).toBe(0);
    expect(await workplace.json(['doctor', '--worker'])).toMatchObject({ ok: true, worker: { state: 'consuming' } });
    worker.signal('SIGTERM');
    await worker.ended;
    expect((await workplace.run(['doctor', '--worker'])).code).toBe(1);
  });
});
