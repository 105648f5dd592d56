import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { selfSigned } from '../../support/site/certificate.ts';
import { TestSite } from '../../support/site.ts';

const LOCAL = ['--private-hosts', '127.0.0.0/8', '--rate', 'none', '--run', 'mine'];
const START = 'Run mine is under way; progress every 30 s (--quiet for none)\n';

async function setup({ tls = false } = {}) {
  const site = new TestSite({ tls });
  await site.start();
  onTestFinished(() => site.stop());
  return { site, workplace: await openWorkplace() };
}

test('in a pipe a crawl prints sentences, nothing with --quiet, and its end on standard error with --json', async () => {
  const { site, workplace } = await setup();
  const crawl = ['crawl', site.url('/page/1'), ...LOCAL];
  const plain = await workplace.run(crawl);
  expect([plain.code, plain.stderr]).toEqual([0, START]);
  expect(plain.stdout).toMatch(/^Run mine finished after .*: 1 page, /);
  const quiet = await workplace.run([...crawl, '--quiet']);
  expect(quiet).toEqual({ code: 0, stdout: '', stderr: '' });
  const json = await workplace.run([...crawl, '--json']);
  expect(json.stderr).toMatch(/^Run mine is under way.*\nRun mine finished after .*: 1 page, .*\n$/);
  expect(JSON.parse(json.stdout)).toMatchObject({ done: 1, state: 'finished' });
});

test('output has colours only on request when it is no terminal, and failures are red', async () => {
  const { site, workplace } = await setup();
  const crawl = ['crawl', site.url('/status/404'), ...LOCAL];
  const red = /\u001b\[31m +1 failed: http_4xx 1\u001b\[39m\n/;
  expect((await workplace.run(crawl)).stdout).not.toContain('\u001b');
  expect((await workplace.run([...crawl, '--color', 'always'])).stdout).toMatch(red);
  const forced = { env: { FORCE_COLOR: '1' } };
  expect((await workplace.start(crawl, undefined, forced).ended).stdout).toMatch(red);
  const never = await workplace.start([...crawl, '--color', 'never'], undefined, forced).ended;
  expect(never.stdout + never.stderr).not.toContain('\u001b');
  const wrong = await workplace.run([...crawl, '--color', 'blue']);
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    'trawl: expected --color to be one of auto, always, never, got "blue"\n',
  ]);
});

test('after Ctrl-C the summary says that the crawl was stopped, in words and in JSON', async () => {
  const { site, workplace } = await setup();
  const list = Array.from({ length: 99 }, (_, n) => site.url(`/page/${n}`)).join('\n');
  for (const json of [false, true]) {
    const before = site.requests.length;
    const run = `mine-${json}`;
    const crawl = workplace.start(
      ['crawl', '-', ...LOCAL, '--run', run, '--rate', '60/min', ...(json ? ['--json'] : [])],
      list,
    );
    await expect.poll(() => site.requests.length).toBeGreaterThan(before + 1);
    crawl.signal('SIGINT');
    const { code, stdout, stderr } = await crawl.ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining('Finishing the pages in hand, at most 10 s.')]);
    if (json) expect(JSON.parse(stdout)).toMatchObject({ state: 'running', interrupted: true });
    else expect(stdout).toMatch(/^Run mine-false stopped after .*: \d+ pages?, /);
  }
});

test('an unknown setting in .env is reported with the most similar name', async () => {
  const { site, workplace } = await setup();
  await writeFile(join(workplace.folder, '.env'), 'MAX_DEPHT=2\nWORKERS=3\nPUBLISH_UI_PORT=1\nSHOP_TOKEN=secret\n');
  const { code, stderr } = await workplace.run(['crawl', site.url('/page/1'), ...LOCAL, '--log-format', 'pretty']);
  expect(code).toBe(0);
  expect(stderr).toContain('.env: MAX_DEPHT is not a setting: did you mean MAX_DEPTH?');
  expect(stderr).toContain('.env: SHOP_TOKEN is not a setting\n');
  expect(stderr).not.toMatch(/WORKERS|PUBLISH|secret/);
  await mkdir(join(workplace.folder, 'crawlers'));
  await writeFile(join(workplace.folder, 'crawlers/shop.ts'), "const secrets = ['SHOP_TOKEN'];\n");
  const { stderr: known } = await workplace.run(['status', '--local', '--log-format', 'pretty']);
  expect(known).toContain('MAX_DEPHT');
  expect(known).not.toContain('SHOP_TOKEN');
});

test('the failure of a self-signed site names --insecure, and --insecure or --ca-file lets it be crawled', async () => {
  const { site, workplace } = await setup({ tls: true });
  const crawl = ['crawl', site.url('/page/1'), ...LOCAL, '--max-attempts', '1', '--fetcher', 'undici'];
  expect((await workplace.run(crawl)).code).toBe(1);
  const [failure] = await workplace.records('mine', '--failed');
  expect(failure).toMatchObject({ reason: 'tls', error: expect.stringContaining('--insecure 127.0.0.1') });
  expect((await workplace.run([...crawl, '--insecure', '127.0.0.1'])).code).toBe(0);
  await writeFile(join(workplace.folder, 'ca.pem'), selfSigned.cert);
  expect((await workplace.run([...crawl, '--ca-file', 'ca.pem'])).code).toBe(0);
});
