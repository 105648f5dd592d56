import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { type Ended, openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TcpProxy } from '../../support/proxies/tcp-proxy.ts';
import { openPrivateRedis } from '../../support/servers/private-redis.ts';
import { uniquePrefix } from '../../support/stores/rabbitmq.ts';

const MEND = 'Fix it: redis-cli config set maxmemory-policy noeviction';

/** A workplace on the servers of the suite, or on those that `env` names. */
async function setup(env: Readonly<Record<string, string>> = {}): Promise<Workplace> {
  const prefix = uniquePrefix();
  return await openWorkplace({
    RABBITMQ_URL: inject('rabbitmqUrl'),
    REDIS_URL: inject('redisUrl'),
    KEY_PREFIX: prefix,
    QUEUE_PREFIX: prefix,
    LOG_FORMAT: 'pretty',
    ...env,
  });
}

/** A proxy in front of a server that refuses every connection until it is opened. */
async function closedProxy(serverUrl: string): Promise<{ proxy: TcpProxy; url: string }> {
  const { hostname, port, protocol } = new URL(serverUrl);
  const proxy = new TcpProxy({ host: hostname, port: Number(port || (protocol === 'redis:' ? 6379 : 5672)) });
  await proxy.start();
  proxy.close();
  onTestFinished(() => proxy.stop());
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${proxy.port}`;
  return { proxy, url: url.href };
}

/** The numbers of the attempts that a command reported as failed. */
function attemptsIn({ stderr }: Ended): number[] {
  return [...stderr.matchAll(/Attempt (\d+) failed:/g)].map(([, number]) => Number(number));
}

/** The fields that every worker's heartbeat has. */
const BEAT = { host: 'h', version: '1', slots: 8, bound: 'slots', inHand: 0, state: 'consuming' };

describe('a service that is unreachable', () => {
  test('makes a command report ten numbered attempts, then what to check, and exit with 1', async () => {
    const workplace = await setup();
    const noRedis = ['--redis-url', 'redis://:secret@127.0.0.1:1'];
    const noRabbitMq = ['--rabbitmq-url', 'amqp://guest:secret@127.0.0.1:1'];
    const [status, dlq, ...produced] = await Promise.all([
      workplace.run(['status', ...noRedis]),
      workplace.run(['dlq', 'list', ...noRabbitMq]),
      // The other service answers, and must not keep the command up.
      workplace.run(['produce', 'http://a.test/', ...noRedis]),
      workplace.run(['produce', 'http://a.test/', ...noRabbitMq]),
    ]);
    for (const [ended, name, check] of [
      [status, 'Redis', 'Check REDIS_URL or REDIS_HOST, and that it runs: docker compose up -d redis'],
      [dlq, 'RabbitMQ', 'Check RABBITMQ_URL or RABBITMQ_HOST, and that it runs: docker compose up -d rabbitmq'],
      [produced[0], 'Redis', 'Check REDIS_URL'],
      [produced[1], 'RabbitMQ', 'Check RABBITMQ_URL'],
    ] as const) {
      if (ended === undefined) throw new Error('expected it to have ended');
      expect(attemptsIn(ended)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      const said = `trawl: ${name} at 127.0.0.1:1 can't be reached, after 10 attempts: connect ECONNREFUSED 127.0.0.1:1. ${check}`;
      expect(ended.stderr).toContain(said);
      expect(ended.stdout + ended.stderr).not.toMatch(/secret|a bug in Trawl|\n {4}at /);
      expect([ended.code, ended.stdout]).toEqual([1, '']);
    }
  });

  test('is waited for by a worker, which logs the attempt that connected', async () => {
    const [rabbitmq, redis] = [await closedProxy(inject('rabbitmqUrl')), await closedProxy(inject('redisUrl'))];
    const workplace = await setup({ RABBITMQ_URL: rabbitmq.url, REDIS_URL: redis.url });
    const worker = workplace.start(['work']);
    await worker.says(/Attempt 2 failed:.*Redis/);
    await worker.says(/Attempt 2 failed:.*RabbitMQ/);
    for (const { proxy } of [rabbitmq, redis]) proxy.open();
    await worker.says(/Connected to Redis on attempt [3-9]/);
    await worker.says(/Connected to RabbitMQ on attempt [3-9]/);
    await worker.says(/INFO: consuming/);
    worker.signal('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('is Redis, lost later: a worker and status --watch also log why reconnecting fails', async () => {
    const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'noeviction');
    const workplace = await setup({ REDIS_URL: url });
    const [worker, watch] = [workplace.start(['work']), workplace.start(['status', '--watch'])];
    await Promise.all([worker.says(/INFO: consuming/), watch.says(/Workers: 1/)]);
    await redis.config('SET', 'requirepass', 'sesame');
    await redis.client('KILL', 'TYPE', 'normal');
    for (const each of [worker, watch]) {
      await each.says(/connection lost, trying again: Redis/);
      await each.says(/still unreachable after .*, trying again: Redis NOAUTH/);
    }
    await redis.config('SET', 'requirepass', '');
    for (const each of [worker, watch]) await each.says(/connected again after .*: Redis/);
    watch.signal('SIGINT');
    worker.signal('SIGTERM');
    expect([(await worker.ended).code, (await watch.ended).code]).toEqual([0, 130]);
  });

  test('does not keep a waiting worker from being stopped', async () => {
    const workplace = await setup({ REDIS_URL: 'redis://127.0.0.1:1' });
    const worker = workplace.start(['work']);
    await worker.says(/Connected to RabbitMQ/);
    await worker.says(/Attempt 1 failed:.*Redis/);
    worker.signal('SIGINT');
    expect((await worker.ended).code).toBe(130);
  });
});

describe('a server that refuses a login or a setting', () => {
  test('a wrong Redis login is reported by status and doctor as such, with the variable to check', async () => {
    const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'noeviction');
    await redis.config('SET', 'requirepass', 'sesame');
    const workplace = await setup({ REDIS_URL: '', REDIS_HOST: '127.0.0.1', REDIS_PORT: new URL(url).port });
    const noLogin = 'refuses the connection without a password: NOAUTH';
    const wrong = 'refuses the user name or password: WRONGPASS';
    for (const [env, said] of [
      [{}, noLogin],
      [{ REDIS_PASSWORD: 'secret' }, wrong],
    ] as const) {
      const status = await workplace.start(['status'], undefined, { env }).ended;
      expect([status.code, status.stderr]).toEqual([78, expect.stringContaining(said)]);
      const { stdout } = await workplace.start(['doctor'], undefined, { env }).ended;
      expect(stdout).toMatch(new RegExp(`problem {2}Redis: .*${said}.*Check REDIS_PASSWORD`));
      expect(stdout).not.toContain('secret');
    }
    const mended = await workplace.start(['status'], undefined, { env: { REDIS_PASSWORD: 'sesame' } }).ended;
    expect(mended.code).toBe(0);
  });

  test('a wrong RabbitMQ login or virtual host is reported by doctor as such, with the variable to check', async () => {
    const url = new URL(inject('rabbitmqUrl'));
    const workplace = await setup();
    url.password = 'secret';
    const login = await workplace.run(['doctor', '--rabbitmq-url', url.href]);
    expect(login.stdout).toMatch(
      /problem {2}RabbitMQ: .* refuses the user name or password: .*Check the login in RABBITMQ_URL/,
    );
    expect(login.stdout).not.toContain('secret');
    const vhost = new URL(inject('rabbitmqUrl'));
    vhost.pathname = '/nobody';
    const { stdout } = await workplace.run(['doctor', '--rabbitmq-url', vhost.href]);
    expect(stdout).toMatch(/problem {2}RabbitMQ: .* refuses the virtual host: .*Check the path of RABBITMQ_URL/);
  });

  test('RabbitMQ at the address of Redis, and the reverse, are named', async () => {
    const workplace = await setup();
    const swapped = ['--redis-url', inject('rabbitmqUrl').replace('amqp', 'redis'), '--rabbitmq-url'];
    const { stdout } = await workplace.run(['doctor', ...swapped, inject('redisUrl').replace('redis', 'amqp')]);
    // If the client has read the first bytes of RabbitMQ, they are all that it reports.
    expect(stdout).toMatch(
      /problem {2}Redis: .* refuses the connection: (RabbitMQ|a server of another kind) answers there\. Check the host and port in REDIS_URL/,
    );
    expect(stdout).toMatch(
      /problem {2}RabbitMQ: .* refuses the connection: Redis answers there\. Check the host and port in RABBITMQ_URL/,
    );
  });

  test('dead letters that need more channels than a connection may have are no bug', async () => {
    const workplace = await setup();
    const url = new URL(inject('rabbitmqUrl'));
    url.searchParams.set('channelMax', '1');
    const { code, stderr } = await workplace.run(['dlq', 'list', '--rabbitmq-url', url.href]);
    const said = 'trawl: RabbitMQ: it allows too few channels for a connection: raise its channel_max';
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
  });

  test('a Redis Cluster is refused at once, with and without a database number', async () => {
    const { url } = await openPrivateRedis('--cluster-enabled', 'yes');
    const workplace = await setup();
    for (const each of [url, `${url}/1`]) {
      const { code, stderr } = await workplace.run(['status', '--redis-url', each]);
      expect([code, stderr]).toEqual([78, expect.stringContaining('Redis Cluster is not supported')]);
      expect(stderr).not.toContain('Attempt');
    }
  });
});

describe('a Redis that cannot be written to', () => {
  test('a missing database number is refused, and nothing is written to another database', async () => {
    const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'noeviction', '--databases', '2');
    const { hostname: REDIS_HOST, port: REDIS_PORT } = new URL(url);
    const workplace = await setup({ REDIS_URL: '', REDIS_HOST, REDIS_PORT, REDIS_DB: '2' });
    const said = 'refuses the database: ERR DB index is out of range. Check REDIS_DB';
    const [pause, status, doctor] = await Promise.all([
      workplace.run(['pause', '--host', 'a.test']),
      workplace.run(['status', '--redis-url', `${url}/2`]),
      workplace.run(['doctor']),
    ]);
    expect([pause.code, pause.stderr]).toEqual([78, expect.stringContaining(said)]);
    expect([status.code, status.stderr]).toEqual([78, expect.stringContaining('Check the number in REDIS_URL')]);
    expect(doctor.stdout).toMatch(new RegExp(`problem {2}Redis: .*${said}`));
    expect(await redis.dbsize()).toBe(0);
  });

  test('doctor warns how much of maxmemory is used', async () => {
    const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'noeviction', '--maxmemory', '1');
    const workplace = await setup({ REDIS_URL: url });
    const doctor = await workplace.run(['doctor']);
    expect(doctor.stdout).toMatch(
      /warning {2}Redis: uses \d+ % of its maxmemory: producers wait, .*redis-cli config set maxmemory SIZE/,
    );
    await redis.config('SET', 'maxmemory', '0');
    expect((await workplace.run(['doctor'])).stdout).not.toContain('maxmemory');
  });

  test('a replica fails a writing command, and a worker waits until it becomes a master or the worker is stopped', async () => {
    const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'noeviction');
    const workplace = await setup({ REDIS_URL: url, KEY_PREFIX: 'a:' });
    await redis.hset('a:workers', 'killed', JSON.stringify({ ...BEAT, id: 'killed', beat: 0 }));
    await redis.replicaof('127.0.0.1', 1);
    const [pause, doctor, status] = await Promise.all([
      workplace.run(['pause', '--host', 'a.test']),
      workplace.run(['doctor']),
      workplace.run(['status']),
    ]);
    expect([pause.code, pause.stderr]).toEqual([1, expect.stringContaining('Redis refused a command: READONLY')]);
    expect(doctor.stdout).toMatch(/problem {2}Redis: READONLY/);
    expect(status.code, 'it may be read').toBe(0);
    const [stopped, waiting] = [workplace.start(['work']), workplace.start(['work'])];
    const lost = /connection lost, trying again: Redis it is a replica, and takes no writes/;
    await Promise.all([stopped.says(lost), waiting.says(lost)]);
    stopped.signal('SIGINT');
    const { code, stderr } = await stopped.ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining('interrupted while Redis did not answer')]);
    await redis.replicaof('NO', 'ONE');
    await waiting.says(/INFO: consuming/);
    expect(waiting.said.match(/connection lost/g), 'said once').toHaveLength(1);
    waiting.signal('SIGTERM');
    expect((await waiting.ended).code).toBe(0);
  });
});

test('doctor reports a RabbitMQ that answers but lets a worker consume nothing, and does not call its queues purged', async () => {
  const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'noeviction');
  const workplace = await setup({ REDIS_URL: url, KEY_PREFIX: 'a:' });
  const beat = { ...BEAT, id: 'waits', state: 'waiting: broker', progress: { unsettledMs: 0 }, beat: 1e15 };
  const full = { ...beat, id: 'full', state: "waiting: records can't be stored: no space" };
  await redis.hset('a:workers', { waits: JSON.stringify(beat), full: JSON.stringify(full) });
  const { code, stdout } = await workplace.run(['doctor']);
  expect(stdout).toMatch(/warning {2}workers: 1 worker consumes nothing: full: records can't be stored: no space/);
  expect(stdout).toMatch(/problem {2}RabbitMQ: answers, but lets 1 worker consume nothing/);
  expect([code, stdout]).toEqual([1, expect.not.stringContaining('purged')]);
});

describe('a Redis that refuses writes for lack of replicas', () => {
  test('fails a command with that reason, and is waited for by workers and producers', async () => {
    const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'noeviction');
    await redis.config('SET', 'min-replicas-to-write', '1');
    const workplace = await setup({ REDIS_URL: url });
    const pause = await workplace.run(['pause', '--host', 'a.test']);
    expect([pause.code, pause.stderr]).toEqual([1, expect.stringContaining('Redis refused a command: NOREPLICAS')]);
    const waiting = [workplace.start(['work']), workplace.start(['produce', 'http://[::1]:1/'])];
    const lost = /connection lost, trying again: Redis it has too few replicas, and takes no writes/;
    await Promise.all(waiting.map((process) => process.says(lost)));
    await redis.config('SET', 'min-replicas-to-write', '0');
    const [worker, producer] = waiting;
    await worker?.says(/INFO: consuming/);
    expect(worker?.said.match(/connection lost/g), 'said once').toHaveLength(1);
    expect((await producer?.ended)?.code).toBe(0);
  });
});

describe('a Redis that would lose data', () => {
  test.each([
    ['while it is connected', false],
    ['after a reconnection', true],
  ])('%s a worker refuses a Redis whose policy has changed to eviction until that is fixed', async (_, isCut) => {
    const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'noeviction');
    const worker = (await setup({ REDIS_URL: url })).start(['work']);
    await worker.says(/INFO: consuming/);
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    if (isCut) await redis.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await worker.says(/trying again: Redis it has changed: Redis may evict keys \(maxmemory-policy is allkeys-lru\)/);
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    await worker.says(/connected again after/);
  });

  test('every command refuses an evicting Redis at once, with the command that fixes it', async () => {
    const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'allkeys-lru');
    const workplace = await setup({ REDIS_URL: url });
    const commands = [['status'], ['work'], ['work', '--exit-when-idle'], ['produce', 'http://a.test/']];
    for (const ended of await Promise.all(commands.map((command) => workplace.run(command)))) {
      expect(ended.stderr).toContain(
        'trawl: Redis may evict keys (maxmemory-policy is allkeys-lru), and with them URLs.',
      );
      expect(ended.stderr).toContain(MEND);
      expect(attemptsIn(ended).length, 'waiting mends nothing').toBeLessThanOrEqual(1);
      expect([ended.code, ended.stdout]).toEqual([78, '']);
    }
    const doctor = await workplace.run(['doctor']);
    expect(doctor.stdout).toContain(MEND);
    expect(doctor.code).toBe(1);
    expect(await redis.dbsize(), 'nothing was done').toBe(0);
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    expect((await workplace.run(['status'])).code).toBe(0);
  });

  test('work --stay-up reports an evicting Redis once and stays up, unhealthy, until it is stopped', async () => {
    const { url } = await openPrivateRedis('--maxmemory-policy', 'allkeys-lru');
    const workplace = await setup({ REDIS_URL: url });
    const worker = workplace.start(['work', '--stay-up']);
    await worker.says(/redis-cli config set maxmemory-policy noeviction/);
    const ended = Promise.race([worker.ended, 'up']);
    expect(await ended).toBe('up');
    expect((await workplace.run(['doctor', '--worker'])).code, 'and is not healthy').toBe(78);
    worker.signal('SIGTERM');
    const { code, stderr } = await worker.ended;
    expect([code, stderr.match(/noeviction/g)?.length]).toEqual([78, 1]);
  });

  test('doctor and workers warn of a Redis without an append-only file, with the command that fixes it', async () => {
    const { url, redis } = await openPrivateRedis('--maxmemory-policy', 'noeviction');
    const workplace = await setup({ REDIS_URL: url });
    const mend =
      'Redis keeps no append-only file: a restart loses every URL. Fix it: redis-cli config set appendonly yes';
    const status = await workplace.run(['status']);
    expect([status.code, status.stderr]).toEqual([0, '']);
    const worker = workplace.start(['work']);
    await worker.says(/consuming/);
    expect(worker.said).toContain(mend);
    worker.signal('SIGTERM');
    const doctor = await workplace.run(['doctor']);
    expect(doctor.stdout).toContain(`warning  Redis: ${mend}`);
    expect(doctor.code).toBe(0);
    await redis.config('SET', 'appendonly', 'yes');
    expect((await workplace.run(['doctor'])).stdout).not.toContain('append-only');
    await redis.config('SET', 'appendonly', 'no');
  });
});
