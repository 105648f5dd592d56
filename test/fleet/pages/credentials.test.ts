import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { type Ended, openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';
import { textsInRedis } from '../../support/stores/redis-texts.ts';

const [USER, PASSWORD] = ['canary-user', 'canary-pass'];
const BASIC = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;
const CANARY = /canary|Y2FuYXJ5/;

/** Returns the URL with the canary as its credentials. */
function sung(url: string): string {
  return url.replace('://', `://${USER}:${PASSWORD}@`);
}

/**
 * A site that answers 401 without the login.
 *
 * | path                | answers                                                         |
 * |---------------------|-----------------------------------------------------------------|
 * | `/`                 | links to `/a`, `/circle`, `/gone`, `/away`, and, with a login, `/own` |
 * | `/circle`           | a redirect to itself                                            |
 * | `/away`             | a redirect to `/there` of another site, with its credentials    |
 * | `/nowhere`          | a redirect to no URL, with credentials                          |
 * | `/robots.txt`       | 503 while `isDown`                                              |
 */
async function closedSite(other: TestSite): Promise<TestSite & { isDown?: boolean }> {
  const site: TestSite & { isDown?: boolean } = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  const pages: Readonly<Record<string, string>> = {
    '/': `<a href=/a>1</a><a href=/circle>2</a><a href=/gone>3</a><a href="${sung(site.url('/own'))}">4</a><base href="/x">`,
    '/a': 'a',
    '/own': 'own',
  };
  const moves: Readonly<Record<string, string>> = {
    '/circle': '/circle',
    '/away': sung(other.url('/there')),
    '/nowhere': `//${USER}:${PASSWORD}@h:port/`,
  };
  for (const path of ['/', '/a', '/own', '/circle', '/away', '/nowhere', '/gone']) {
    site.on(path, ({ headers }, response) => {
      if (headers.authorization !== BASIC) response.writeHead(401).end();
      else if (moves[path] !== undefined) response.writeHead(302, { location: moves[path] }).end();
      else if (pages[path] === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${path}</title>${pages[path]}`);
    });
  }
  for (const path of ['/robots.txt', '/sitemap.xml']) {
    site.on(path, (_, response) => response.writeHead(site.isDown === true ? 503 : 404).end());
  }
  return site;
}

async function sites() {
  const other = new TestSite();
  await other.start();
  onTestFinished(() => other.stop());
  other.on('/there', ({ headers }, response) => {
    response.writeHead(headers.authorization === BASIC ? 200 : 401, { 'content-type': 'text/html' }).end('there');
  });
  return { site: await closedSite(other), other };
}

/** The text of all files in the workplace except the database, which only its owner may read. */
async function filesOf({ folder }: Workplace): Promise<string> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && !entry.name.startsWith('trawl.sqlite'));
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
  return texts.join('\n');
}

function said({ stdout, stderr }: Ended): string {
  return stdout + stderr;
}

test('a fleet sends the credentials of a URL to its origin, and shows them nowhere', { timeout: 120_000 }, async () => {
  const { workplace, redis, keyPrefix } = await openFleet();
  const { site, other } = await sites();
  const told: string[] = [];
  const flags = ['--log-level', 'debug', ...AT_FULL_SPEED];
  const run = async (...args: string[]): Promise<Ended> => {
    const ended = await workplace.run(args);
    told.push(`trawl ${args[0]}: ${said(ended)}`);
    return ended;
  };
  const worker = workplace.start(['work', '--robots', 'ignore', ...flags]);
  await worker.says(/consuming/);
  const seeds = ['/', '/away', '/nowhere'].map((path) => sung(site.url(path)));
  // Without credentials, the URL is another page, and is refused.
  await run('produce', site.url('/a'), '--run', 'open', '--wait', ...flags);
  const produced = await run('produce', ...seeds, '--run', 'mine', '--follow', '--wait', '--json', ...flags);
  expect(JSON.parse(produced.stdout)).toMatchObject({
    done: 4,
    failed: 3,
    reasons: { failed: { redirects: 2, http_4xx: 1 } },
  });
  const done = (await workplace.records('mine')).map(({ url }) => url).toSorted();
  expect(done).toEqual(['/', '/a', '/away', '/own'].map((path) => site.url(path)));
  for (const { headers } of other.requests) expect(headers.authorization).toBe(BASIC);

  const id = JSON.parse((await run('dlq', 'list', '--run', 'mine', '--json')).stdout)[0].id;
  for (const path of ['/a', '/gone', '/circle', '/nowhere']) {
    const { stdout, code } = await run('url', sung(site.url(path)));
    expect([code, stdout]).toEqual([0, expect.stringContaining('mine')]);
  }
  await run('url', `http:/${USER}:${PASSWORD}@h:port/`);
  await run('dlq', 'list');
  await run('dlq', 'show', id);
  expect((await run('dlq', 'show', sung(site.url('/gone')))).code).toBe(0);
  await run('dlq', 'show', sung(site.url('/unknown')));
  await run('dlq', 'export');
  await run('status');
  await run('status', 'mine');
  await run('records', 'mine', '--failed');
  await run('records', 'mine', '-o', 'all.csv');
  await run('produce', `${USER}:${PASSWORD}@h/`);
  await run('produce', `http://${USER}:${PASSWORD}@h:port/`);
  await run('pause', '--host', sung('http://h:port/'));

  expect(await textsInRedis(redis, keyPrefix), 'what Redis has of a run that is over').not.toMatch(CANARY);
  // A letter still has them: it is crawled again with them.
  const before = site.requests.length;
  const replayed = await run('dlq', 'replay', '--run', 'mine', '--reason', 'http_4xx');
  expect(replayed.code).toBe(0);
  await expect.poll(() => site.requests.slice(before).map(({ headers }) => headers.authorization)).toEqual([BASIC]);
  told.push(worker.said, await filesOf(workplace));
  for (const text of told) expect(text).not.toMatch(CANARY);
  // The run without credentials was refused, and took no page from the other run.
  expect(
    site.requests.filter(({ path, headers }) => path === '/a' && headers.authorization === undefined),
  ).toHaveLength(1);
});

test('one process shows credentials nowhere, and a resumed crawl still has them', { timeout: 120_000 }, async () => {
  const workplace = await openWorkplace();
  const { site } = await sites();
  const args = ['--log-level', 'debug', '--follow', '--run', 'mine', ...AT_FULL_SPEED];
  const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
  site.on('/a', async ({ headers }, response) => {
    answer();
    await new Promise((resolve) => setTimeout(resolve, 300));
    response.writeHead(headers.authorization === BASIC ? 200 : 401, { 'content-type': 'text/html' }).end('a');
  });
  site.isDown = true;
  const first = workplace.start(['crawl', sung(site.url('/')), sung(site.url('/away')), ...args, '--robots', 'ignore']);
  await asked;
  first.signal('SIGKILL');
  const killed = await first.ended;
  const ended = await workplace.run(['crawl', '--resume', 'mine', '--log-level', 'debug', '--json']);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    done: 4,
    failed: 2,
    reasons: { failed: { redirects: 1, http_4xx: 1 } },
  });
  const failed = await workplace.run(['records', 'mine', '--failed']);
  for (const text of [said(killed), said(ended), said(failed), await filesOf(workplace)])
    expect(text).not.toMatch(CANARY);
});

test('the same URL with and without credentials are two pages of a run', async () => {
  const workplace = await openWorkplace();
  const { site } = await sites();
  const seeds = [site.url('/a'), sung(site.url('/a')), sung(site.url('/a'))];
  const summary = await workplace.json(['crawl', '--run', 'mine', ...seeds, ...AT_FULL_SPEED]);
  expect(summary).toMatchObject({ done: 1, failed: 1, duplicate: 1, skipped: 0, reasons: { failed: { http_4xx: 1 } } });
});
