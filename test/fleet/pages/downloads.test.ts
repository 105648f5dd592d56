import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { copyProgram } from '../../support/processes/own-program.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const FILES = `import { defineCrawler } from '../shared/crawler/crawler.ts';
export default defineCrawler({
  name: 'files',
  steps: { start: { run({ page, download }) { download(page.links('a')); download('/long.bin', { maxBytes: 10 }); } } },
});
`;
const LINKS = ['/a.pdf', '/again?id=1', '/moved', '/gone', '/cut.zip', '/..%2f..%2fpasswd;$(id)'];

/** Serves a page that links to files, some of which fail. */
function answer(site: TestSite): void {
  const file = (path: string, body: string, type = 'application/pdf'): void =>
    site.on(path, (_, response) => {
      response.setHeader('content-disposition', 'attachment; filename="../../evil.sh"');
      response.setHeader('content-type', type).end(body);
    });
  site.on('/files', (_, response) => {
    response.setHeader('content-type', 'text/html').end(LINKS.map((link) => `<a href="${link}">it</a>`).join(''));
  });
  for (const path of ['/a.pdf', '/again']) file(path, 'a file');
  file('/there.pdf', 'another');
  file('/long.bin', 'too long for its limit');
  file('/..%2f..%2fpasswd;$(id)', 'hostile', 'application/octet-stream');
  site.on('/moved', (_, response) => void response.writeHead(302, { location: '/there.pdf' }).end());
  site.on('/gone', (_, response) => void response.writeHead(404).end());
  site.on('/cut.zip', (request, response) => {
    response.writeHead(200, { 'content-type': 'application/zip', 'content-length': '100' });
    response.write('PK', () => request.socket.destroy());
  });
}

async function programOf(workplace: Workplace): Promise<string> {
  const program = await copyProgram(join(workplace.folder, 'program'), {});
  await writeFile(join(program, 'crawlers/files.ts'), FILES);
  return program;
}

/** The stored files by the links that asked for them, and the reasons for those that are not stored. */
async function stored(workplace: Workplace, site: TestSite): Promise<object> {
  const found: Record<string, string> = {};
  const records = [...(await workplace.records('r', '--all'))].filter(({ step }) => step === 'download');
  for (const record of records) {
    const { url, reason, data } = record;
    const { path, name } = (data ?? {}) as { readonly path?: string; readonly name?: string };
    expect(data ?? record).toMatchObject({ from: site.url('/files') });
    if (path !== undefined) expect(name).toBe('evil.sh');
    const text = path === undefined ? undefined : await readFile(join(workplace.folder, 'output/r', path), 'utf8');
    found[String(url).replace(site.origin, '')] =
      text === undefined ? String(reason) : `${extname(String(path))} ${text}`;
  }
  const names = await readdir(join(workplace.folder, 'output/r/files'));
  return { found, names: names.map((name) => name.replace(/^[0-9a-f]{64}/, '')).sort() };
}

const STORED = {
  found: {
    '/a.pdf': '.pdf a file',
    '/again?id=1': '.pdf a file',
    '/moved': '.pdf another',
    '/gone': 'http_4xx',
    '/cut.zip': 'connection',
    '/..%2f..%2fpasswd;$(id)': '.sh hostile',
    '/long.bin': 'size',
  },
  names: ['.pdf', '.pdf', '.sh'],
};
const OWN = ['--crawler', 'files', '--max-attempts', '1', ...AT_FULL_SPEED];

test.each(['got', 'undici'])(
  'one process stores the files that a step downloads, each content once (%s)',
  async (lane) => {
    const site = new TestSite();
    await site.start();
    onTestFinished(() => site.stop());
    answer(site);
    const workplace = await openWorkplace();
    const program = await programOf(workplace);
    const args = ['crawl', site.url('/files'), '--run', 'r', '--fetcher', lane, '--json', ...OWN];
    const { stdout, stderr } = await workplace.start(args, undefined, { program }).ended;
    expect(JSON.parse(stdout), stderr).toMatchObject({ done: 5, failed: 2, skipped: 1 });
    expect(await stored(workplace, site)).toEqual(STORED);
  },
);

test('a fleet stores the files that a step downloads, each content once', async () => {
  const { workplace, site } = await openFleet();
  answer(site);
  const program = await programOf(workplace);
  const workers = [1, 2].map(() => workplace.start(['work', ...OWN], undefined, { program }));
  for (const worker of workers) await worker.says(/consuming/);
  const args = ['produce', site.url('/files'), '--run', 'r', '--wait', ...OWN];
  await workplace.start(args, undefined, { program }).ended;
  for (const worker of workers) worker.signal('SIGTERM');
  await Promise.all(workers.map((worker) => worker.ended));
  expect(await stored(workplace, site)).toEqual(STORED);
});

test('URLs that match the pattern of download are stored: those of a list, and links that a run follows', async () => {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  answer(site);
  const workplace = await openWorkplace();
  await writeFile(
    join(workplace.folder, 'papers.ts'),
    `import { defineCrawler } from 'trawl';
export default defineCrawler({ name: 'papers', patterns: { download: '*.pdf' }, steps: { page: { run() {} } } });
`,
  );
  await writeFile(join(workplace.folder, 'list.txt'), `${site.url('/there.pdf')}\n${site.url('/files')}\n`);
  const args = ['crawl', 'list.txt', '--run', 'r', '--follow', '--crawler', './papers.ts', ...AT_FULL_SPEED];
  await workplace.json([...args, '--include', '*.pdf']);
  const records = (await workplace.records('r')).filter(({ step }) => step === 'download');
  const files = records.map(({ url, data }) => [url.replace(site.origin, ''), (data as { from?: string }).from]);
  expect(files.sort()).toEqual([
    ['/a.pdf', undefined],
    ['/there.pdf', undefined],
  ]);
  expect((await readdir(join(workplace.folder, 'output/r/files'))).map((name) => extname(name))).toEqual([
    '.pdf',
    '.pdf',
  ]);
});
