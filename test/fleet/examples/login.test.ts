import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { allOrders, CUSTOMER, ORDERS, serveAccount } from '../../support/practice/account.ts';
import { example, openPractice } from '../../support/practice/open.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { tapPublished } from '../../support/stores/rabbitmq.ts';
import { textsInRedis } from '../../support/stores/redis-texts.ts';

const CANARY = /canary/;
const LISTS = 3;

/** The items that the crawler emits: all orders that weren't cancelled. */
const EXPECTED = allOrders().filter(({ state }) => state === 'sent');

async function ordersOf(workplace: Workplace, run: string): Promise<unknown[]> {
  const records = await workplace.records(run, '--step', 'order');
  return records.map(({ data }) => data).toSorted((a, b) => a.number.localeCompare(b.number));
}

/** The text of all files in the workplace. */
async function filesOf({ folder }: Workplace): Promise<string> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
  return texts.join('\n');
}

test('one process finds the orders of a customer, logs in again when the session ends, and stores no login', async () => {
  const [site, workplace] = [await openPractice(), await openWorkplace(CUSTOMER)];
  const log = serveAccount(site);
  const flags = [
    '--crawler',
    example('login'),
    '--arg',
    `site=${site.origin}`,
    '--log-level',
    'debug',
    ...AT_FULL_SPEED,
  ];
  const ended = await workplace.run(['crawl', '--run', 'mine', ...flags]);
  expect(ended.code, ended.stderr).toBe(0);
  expect(await ordersOf(workplace, 'mine')).toEqual(EXPECTED);
  const records = await workplace.records('mine', '--all', '--empty');
  expect(records).toHaveLength(ORDERS + LISTS);
  for (const record of records) expect(record).toMatchObject({ outcome: 'done', attempt: 1 });
  expect(log).toEqual({ logins: 2, refused: 0 });
  for (const text of [ended.stdout, ended.stderr, await filesOf(workplace)]) expect(text).not.toMatch(CANARY);
});

test('missing secrets are refused at once, by name, and a wrong one pauses the run until it is resumed', async () => {
  const [site, workplace] = [await openPractice(), await openWorkplace()];
  const log = serveAccount(site);
  const flags = ['--crawler', example('login'), '--arg', `site=${site.origin}`, ...AT_FULL_SPEED];
  const refused = await workplace.start(['crawl', '--run', 'mine', ...flags], undefined, { env: { SHOP_USER: 'me' } })
    .ended;
  expect(refused).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('expected SHOP_PASSWORD in the environment: secrets of crawler login'),
  });
  expect(site.requests).toEqual([]);
  const wrong = { ...CUSTOMER, SHOP_PASSWORD: 'canary-wrong' };
  const crawl = workplace.start(['crawl', '--run', 'mine', ...flags], undefined, { env: wrong });
  await crawl.says(/logins failed: the run is paused/);
  const status = await workplace.json(['status', 'mine']);
  expect(status).toMatchObject({
    state: 'paused',
    waiting: 1,
    pauseReason: expect.stringMatching(/^its login failed 3 times: .*login\.ts:\d+, its login: the shop says: wrong/),
  });
  expect(log).toEqual({ logins: 0, refused: 3 });
  crawl.signal('SIGINT');
  const stopped = await crawl.ended;
  expect(stopped.stdout + stopped.stderr).toContain('It is paused: its login failed 3 times');
  expect(stopped.stdout + stopped.stderr + (await filesOf(workplace))).not.toMatch(CANARY);
  const resumed = await workplace.start(['crawl', '--resume', 'mine'], undefined, { env: CUSTOMER }).ended;
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(await ordersOf(workplace, 'mine')).toEqual(EXPECTED);
});

test('a worker without the secrets of a crawler says so and works on others, and an able worker takes the tasks left', {
  timeout: 240_000,
}, async () => {
  const { workplace, site } = await openFleet({}, { CRAWLERS_DIR: dirname(example('login')) });
  site.robots = '';
  serveAccount(site);
  const worker = workplace.start(['work', '--log-level', 'warn', ...AT_FULL_SPEED]);
  await worker.says(/"crawler":"login","lacking":.*the environment lacks secrets of a crawler/);
  const page = ['--crawler', 'page', '--run', 'other', '--wait', ...AT_FULL_SPEED];
  const other = await workplace.run(['produce', ...page, site.url('/page/1')]);
  expect(other.code, other.stderr).toBe(0);
  const args = ['produce', '--crawler', 'login', '--run', 'mine', '--arg', `site=${site.origin}`, ...AT_FULL_SPEED];
  expect((await workplace.run(args)).code).toBe(0);
  await worker.says(/run mine: expected SHOP_USER, SHOP_PASSWORD in the environment.*left to others/);
  const waits = 'run mine waits for one with SHOP_PASSWORD, SHOP_USER in its environment';
  expect((await workplace.run(['status', 'mine'])).stdout).toContain(waits);
  const lacks = '1 worker lacks SHOP_USER, SHOP_PASSWORD, for crawler login: its tasks are left to others';
  expect((await workplace.run(['workers'])).stdout).toContain(lacks);
  const { findings } = await workplace.json(['doctor']);
  expect(findings).toContainEqual({ what: 'workers', state: 'warning', said: lacks });
  expect(findings).toContainEqual({
    what: 'secrets',
    state: 'warning',
    said: expect.stringContaining('expected SHOP_USER, SHOP_PASSWORD in the environment: secrets of crawler login'),
  });
  worker.signal('SIGTERM');
  await worker.ended;
  const able = workplace.start(['work', '--exit-when-idle', ...AT_FULL_SPEED], undefined, { env: CUSTOMER });
  expect((await able.ended).code).toBe(0);
  expect(await ordersOf(workplace, 'mine')).toEqual(EXPECTED);
  expect((await workplace.json(['status', 'mine'])).failed).toBe(0);
});

test('in a fleet each worker logs in once for a run, and no secret is in Redis, RabbitMQ, files or logs', {
  timeout: 120_000,
}, async () => {
  const { workplace, site, redis, keyPrefix, queuePrefix } = await openFleet(
    {},
    { CRAWLERS_DIR: dirname(example('login')), ...CUSTOMER },
  );
  site.robots = '';
  const log = serveAccount(site);
  const flags = ['--crawler', 'login', ...AT_FULL_SPEED];
  const workers = [1, 2].map(() => workplace.start(['work', '--log-level', 'debug', ...AT_FULL_SPEED]));
  for (const worker of workers) await worker.says(/consuming/);
  const published = await tapPublished(queuePrefix);
  // A producer only offers seeds, so it needs no secrets.
  const offered = { env: { SHOP_USER: '', SHOP_PASSWORD: '' } };
  const args = ['produce', '--run', 'mine', '--arg', `site=${site.origin}`, '--wait', ...flags];
  const produced = await workplace.start(args, undefined, offered).ended;
  expect(produced.code, produced.stderr).toBe(0);
  expect(await ordersOf(workplace, 'mine')).toEqual(EXPECTED);
  expect(log.logins).toBeGreaterThanOrEqual(2);
  expect(log.logins).toBeLessThanOrEqual(3);
  expect(await textsInRedis(redis, keyPrefix)).not.toMatch(CANARY);
  const messages = await published();
  expect(messages.length).toBeGreaterThanOrEqual(ORDERS + LISTS);
  expect(messages.join('\n')).not.toMatch(CANARY);
  for (const { said } of workers) expect(said).not.toMatch(CANARY);
  expect(await filesOf(workplace)).not.toMatch(CANARY);
});
