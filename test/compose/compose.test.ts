import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHECKOUT, docker, Stack } from './stack.ts';

// The tests depend on each other in this order: as a stack takes long to start, each builds on the state that the last one left.
const PAGES = 300;
const SLOW_PAGES = 3_000;
const LISTED = ['http://site:8080/listed/1', 'http://site:8080/listed/2', 'ftp://site/listed/3'];
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.open({ PAGES: String(PAGES), SLOW_PAGES: String(SLOW_PAGES) });
  await stack.compose(['up', '-d', '--build', '--wait', '--wait-timeout', '180', '--scale', 'scraper=3']);
});

afterAll(async () => {
  await stack.compose(['--profile', 'tools', 'down', '--volumes', '--remove-orphans', '--rmi', 'local']);
});

test('up starts three healthy, consuming workers', async () => {
  const scrapers = await stack.containers('scraper');
  expect(scrapers.map(({ State, Health }) => `${State}, ${Health}`)).toEqual(Array(3).fill('running, healthy'));
  const { workers } = await stack.trawl('status');
  expect(workers).toHaveLength(3);
});

test('a run of a producer in a throwaway container fetches every page once and uses all workers', async () => {
  const args = ['run', '--build', '--rm', '-T', 'producer', 'http://site:8080/', '--run', 'first', '--wait', '--json'];
  const { stdout } = await stack.compose(args);
  // Before that, Compose reports the build.
  expect(JSON.parse(lastLine(stdout))).toMatchObject({
    run: 'first',
    state: 'finished',
    discovered: PAGES,
    done: PAGES,
    failed: 0,
    waiting: 0,
    inFlight: 0,
    records: PAGES,
  });
  const asked = Object.entries(await stack.requests()).filter(([path]) => path.startsWith('/page/'));
  expect(asked).toHaveLength(PAGES);
  expect(asked.every(([, times]) => times === 1)).toBe(true);
  const { stdout: lines } = await stack.compose(['exec', '-T', 'scraper', 'trawl', 'records', 'first']);
  const records = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(records.map(({ url }) => url)).size).toBe(PAGES);
  expect(new Set(records.map(({ worker }) => worker)).size).toBe(3);
});

test('workers have a read-only root file system, no capabilities, and know their memory limit', async () => {
  const [scraper] = await stack.containers('scraper');
  const format = '{{json .HostConfig}}';
  const { stdout } = await docker(['inspect', '--format', format, scraper?.Name ?? '']);
  expect(JSON.parse(stdout)).toMatchObject({
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true'],
    Memory: 2 ** 30,
    ExtraHosts: ['host.docker.internal:host-gateway'],
  });
  const limit = 'process.constrainedMemory()';
  const told = await stack.compose(['exec', '-T', 'scraper', 'node', '-p', limit]);
  expect(Number(told.stdout)).toBe(2 ** 30);
});

test('status in a worker container shows the run and the workers', async () => {
  const { stdout } = await stack.compose(['exec', '-T', 'scraper', 'trawl', 'status']);
  expect(stdout).toMatch(/first +finished +300\/300/);
  expect(stdout).toMatch(/Workers: 3/);
});

test('the RabbitMQ UI answers on its published port and lists the declared queues', async () => {
  const response = await fetch(`http://127.0.0.1:${stack.ports.ui}/api/queues`, {
    headers: { authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}` },
  });
  expect(response.status).toBe(200);
  const queues = (await response.json()) as { name: string; arguments: Record<string, unknown>; consumers: number }[];
  const told = queues.map(({ name, arguments: args }) => [name, args['x-queue-type'], args['x-message-ttl']]);
  expect(told.sort()).toEqual([
    ['failed_urls', 'quorum', 86_400_000],
    ['priority_queue', 'quorum', 1_800_000],
    ['url_queue_ttl', 'quorum', 3_600_000],
  ]);
});

test('the link in the log of the API opens the dashboard on the published port', async () => {
  const { stdout } = await stack.compose(['logs', '--no-log-prefix', 'api']);
  const [, url = '', token = ''] = /Dashboard: (\S+)#token=(\S+)/.exec(stdout) ?? [];
  expect(url).toBe(`http://127.0.0.1:${stack.ports.api}/`);
  const response = await fetch(`${url}api/fleet`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
});

test('a RabbitMQ login from the shell reaches RabbitMQ and all its clients', async () => {
  const env = { RABBITMQ_USER: 'crawl', RABBITMQ_PASSWORD: 'a$b', RABBITMQ_VHOST: 'mine' };
  const { services } = await stack.config(env);
  expect(services.rabbitmq?.environment).toMatchObject({
    RABBITMQ_DEFAULT_USER: 'crawl',
    RABBITMQ_DEFAULT_VHOST: 'mine',
  });
  const password = services.rabbitmq?.environment.RABBITMQ_DEFAULT_PASS;
  for (const name of ['scraper', 'api', 'producer'])
    expect(services[name]?.environment).toMatchObject({ ...env, RABBITMQ_PASSWORD: password });
});

test('every container limits the size of its log', async () => {
  const { services } = await stack.config({});
  for (const name of ['rabbitmq', 'redis', 'postgres', 'scraper', 'api', 'producer'])
    expect(services[name]?.logging, name).toMatchObject({ options: { 'max-size': '20m', 'max-file': '5' } });
});

test('redis-cli can read the known URLs and runs, and Redis is configured to lose nothing', async () => {
  expect(await stack.redis('SCARD', 'crawled_urls')).toBe(String(PAGES));
  expect(await stack.redis('HGET', 'run:first', 'done')).toBe(String(PAGES));
  expect(await stack.redis('SISMEMBER', 'crawled_urls', 'http://site:8080/page/7')).toBe('1');
  expect(await stack.redis('CONFIG', 'GET', 'maxmemory-policy')).toMatch(/noeviction/);
  expect(await stack.redis('CONFIG', 'GET', 'maxmemory')).toMatch(/\b2147483648\b/);
  expect(await stack.redis('CONFIG', 'GET', 'appendonly')).toMatch(/yes/);
});

test('a second producer finds nothing new, and --fresh crawls the site again', async () => {
  expect(await stack.produce(['http://site:8080/'])).toMatchObject({ discovered: 0, duplicate: PAGES });
  const fresh = await stack.produce(['http://site:8080/', '--fresh', '--wait']);
  expect(fresh).toMatchObject({ state: 'finished', done: PAGES, records: PAGES });
});

test('a producer reads a list from standard input, and its malformed URLs become dead letters', async () => {
  const summary = await stack.produce(['-', '--run', 'listed', '--wait'], `${LISTED.join('\n')}\n`);
  expect(summary).toMatchObject({
    discovered: 3,
    done: 2,
    failed: 1,
    reasons: { failed: { malformed: 1 }, skipped: {} },
  });
  const { stdout } = await stack.compose(['exec', '-T', 'scraper', 'trawl', 'dlq', 'list']);
  expect(stdout).toMatch(/malformed.*ftp:\/\/site\/listed\/3/);
});

test('while workers run, a producer gives no hint to start some', async () => {
  const args = ['run', '--rm', '-T', 'producer', '-', '--run', 'hinted'];
  const { stdout } = await stack.compose(args, { input: 'http://site:8080/listed/9\n' });
  expect(stdout).toMatch(/URLs? offered/);
  expect(stdout).not.toMatch(/Workers:/);
});

test('nothing is lost when a worker is killed and the fleet shrinks to one and grows again', async () => {
  const told = await stack.produce(['http://site:8080/slow.xml', '--run', 'slow']);
  expect(told).toMatchObject({ discovered: SLOW_PAGES });
  const [victim] = await stack.containers('scraper');
  await docker(['kill', '--signal', 'KILL', victim?.Name ?? '']);
  await stack.compose(['up', '-d', '--no-recreate', '--scale', 'scraper=1']);
  await stack.compose(['up', '-d', '--no-recreate', '--scale', 'scraper=3']);
  const before = await stack.trawl('status', 'slow');
  expect(before.waiting + before.inFlight, 'work that was left when the fleet had changed').toBeGreaterThan(0);
  const { stdout } = await stack.compose(['exec', '-T', 'scraper', 'trawl', 'status', 'slow', '--watch', '--json']);
  const summary = JSON.parse(lastLine(stdout));
  expect(summary).toMatchObject({ state: 'finished', discovered: SLOW_PAGES, done: SLOW_PAGES, failed: 0 });
  const { stdout: lines } = await stack.compose(['exec', '-T', 'scraper', 'trawl', 'records', 'slow']);
  const urls = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).url);
  expect(urls).toHaveLength(SLOW_PAGES);
  expect(new Set(urls).size).toBe(SLOW_PAGES);
});

test('up without --scale sets the number of workers to WORKERS and keeps it', async () => {
  const workersAfter = async (...args: string[]): Promise<number> => {
    await stack.compose(['up', '-d', '--no-recreate', ...args], { env: { WORKERS: '2' } });
    return (await stack.containers('scraper')).filter(({ State }) => State === 'running').length;
  };
  expect(await workersAfter()).toBe(2);
  expect(await workersAfter()).toBe(2);
  expect(await workersAfter('--scale', 'scraper=3'), 'for this once').toBe(3);
});

test('a producer runs from a checkout in a bare Node.js container on the network of the fleet', async () => {
  const command = [
    'node',
    'services/cli/trawl.ts',
    'produce',
    'http://site:8080/',
    '--private-hosts',
    'site',
    '--json',
  ];
  const where = ['--network', `${stack.project}_default`, '-e', 'RABBITMQ_HOST=rabbitmq', '-e', 'REDIS_HOST=redis'];
  const mount = ['-v', `${CHECKOUT}:/app`, '-w', '/app', 'node:24-trixie-slim'];
  const { stdout } = await docker(['run', '--rm', ...where, ...mount, ...command]);
  expect(JSON.parse(stdout)).toMatchObject({ discovered: 0, duplicate: PAGES });
});

test('a worker with wrong settings says so once, stays up, and is unhealthy', async () => {
  const name = `${stack.project}-wrong`;
  const quickly = ['--health-interval', '1s', '--health-start-period', '1ms', '--health-retries', '1'];
  const wrong = ['-e', 'WORKER_CONCURRENCY=many', '-e', 'RATE_LIMIT=fast'];
  await docker(['run', '-d', '--name', name, ...quickly, ...wrong, `${stack.project}-scraper`]);
  try {
    const format = '{{.State.Status}} {{.State.Health.Status}} {{.RestartCount}}';
    await expect
      .poll(async () => (await docker(['inspect', '--format', format, name])).stdout.trim(), { timeout: 30_000 })
      .toBe('running unhealthy 0');
    const { stderr } = await docker(['logs', name]);
    expect(stderr.match(/expected WORKER_CONCURRENCY to be .*, got "many"/g)).toHaveLength(1);
    expect(stderr.match(/expected RATE_LIMIT to be .*, got "fast"/g)).toHaveLength(1);
    await docker(['stop', '--time', '5', name]);
    expect((await docker(['inspect', '--format', '{{.State.ExitCode}}', name])).stdout.trim()).toBe('78');
  } finally {
    await docker(['rm', '-f', name]);
  }
});

test('images work with any umask of the checkout, and name their user by number, as Kubernetes requires', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-umask-'));
  const name = `${stack.project}-umask`;
  try {
    for (const each of ['.dockerignore', 'package.json', 'package-lock.json', 'crawlers', 'shared', 'services'])
      await cp(join(CHECKOUT, each), join(folder, each), { recursive: true });
    await promisify(execFile)('chmod', ['-R', 'go-rwx', folder]);
    for (const service of ['worker', 'producer']) {
      await docker(['build', '-q', '-t', name, '-f', join(CHECKOUT, `Dockerfile.${service}`), folder]);
      const { stdout } = await docker(['run', '--rm', '--entrypoint', 'trawl', name, 'crawlers', '--json']);
      expect(JSON.parse(stdout).crawlers).toMatchObject([{ name: 'page' }]);
      expect((await docker(['inspect', '--format', '{{.Config.User}}', name])).stdout.trim()).toBe('1000:1000');
    }
  } finally {
    await docker(['rmi', '-f', name]);
    await rm(folder, { recursive: true });
  }
});

test('down leaves no container, volume or network behind', async () => {
  await stack.compose(['--profile', 'tools', 'down', '--volumes', '--remove-orphans', '--rmi', 'local']);
  const filter = ['--filter', `label=com.docker.compose.project=${stack.project}`, '-q'];
  expect((await docker(['ps', '--all', ...filter])).stdout).toBe('');
  expect((await docker(['volume', 'ls', ...filter])).stdout).toBe('');
  expect((await docker(['network', 'ls', ...filter])).stdout).toBe('');
});

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
