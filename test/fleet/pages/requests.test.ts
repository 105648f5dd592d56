import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openFleet } from '../../support/processes/fleet.ts';
import { copyProgram } from '../../support/processes/own-program.ts';
import { openWorkplace, type Workplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

/** Searches with a form, fetches the results as JSON, and has a fallback for missing pages. */
const SEARCH = `import { defineCrawler } from '../shared/crawler/crawler.ts';
export default defineCrawler({
  name: 'search',
  steps: {
    start: {
      to: ['found', 'cut'],
      run({ follow }) {
        for (const q of ['a', 'b']) follow('found', { url: '/search', method: 'POST', body: new URLSearchParams({ q }) });
        follow('cut', { url: '/cut', method: 'POST', body: { n: 1 } });
      },
    },
    found: { to: ['detail'], run({ page, follow }) { follow('detail', JSON.parse(page.text).links); } },
    detail: { fallback: 'gone', run({ page, emit }) { emit({ text: page.text }); } },
    gone: { run({ failure, emit }) { emit({ gone: failure?.status }); } },
    cut: { run() {} },
  },
});
`;

/** Answers `POST /search` with a redirect to the results, and cuts the connection of `/cut`. Returns the requests. */
function answer(site: TestSite): string[] {
  const asked: string[] = [];
  site.on('/search', (request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => {
      body += piece.toString();
    });
    request.on('end', () => {
      asked.push(`${request.method} ${request.headers['content-type']} ${body}`);
      response.writeHead(303, { location: `/results/${body.slice(2)}` }).end();
    });
  });
  for (const q of ['a', 'b'])
    site.on(`/results/${q}`, (request, response) => {
      asked.push(`${request.method} /results/${q}`);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ links: [`/item/${q}`] }));
    });
  site.on('/item/a', (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('an item'));
  site.on('/item/b', (_, response) => void response.writeHead(410).end());
  site.on('/cut', (request) => {
    asked.push('cut');
    request.socket.destroy();
  });
  return asked;
}

const FORM = 'application/x-www-form-urlencoded;charset=UTF-8';
const ASKED = ['GET /results/a', 'GET /results/b', `POST ${FORM} q=a`, `POST ${FORM} q=b`, 'cut'];

async function programOf(workplace: Workplace): Promise<string> {
  const program = await copyProgram(join(workplace.folder, 'program'), {});
  await writeFile(join(program, 'crawlers/search.ts'), SEARCH);
  return program;
}

/** The records of a run: data by step, then the failures. */
async function recorded(workplace: Workplace): Promise<unknown[]> {
  const [done, failed] = [await workplace.records('r'), await workplace.records('r', '--failed')];
  const items = done.filter(({ data }) => data !== null).map(({ step, data }) => [step, data]);
  return [...items.sort(), ...failed.map(({ step, reason }) => [step, reason])];
}

const RECORDED = [
  ['detail', { text: 'an item' }],
  ['gone', { gone: 410 }],
  ['cut', 'unknown_fate'],
];
const OWN = ['--crawler', 'search', ...AT_FULL_SPEED];

test('one process posts forms, follows their results, and never repeats a POST whose fate is unknown', async () => {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  const asked = answer(site);
  const workplace = await openWorkplace();
  const program = await programOf(workplace);
  const args = ['crawl', site.url('/page/1'), '--run', 'r', '--json', ...OWN];
  const { stdout, stderr } = await workplace.start(args, undefined, { program }).ended;
  expect(JSON.parse(stdout), stderr).toMatchObject({ done: 5, failed: 1 });
  expect(asked.sort()).toEqual(ASKED);
  expect(await recorded(workplace)).toEqual(RECORDED);
});

test('a fleet posts forms, follows their results, and never repeats a POST whose fate is unknown', async () => {
  const { workplace, site } = await openFleet();
  const asked = answer(site);
  const program = await programOf(workplace);
  const worker = workplace.start(['work', ...OWN], undefined, { program });
  await worker.says(/consuming/);
  const args = ['produce', site.url('/page/1'), '--run', 'r', '--wait', ...OWN];
  await workplace.start(args, undefined, { program }).ended;
  worker.signal('SIGTERM');
  await worker.ended;
  expect(asked.sort()).toEqual(ASKED);
  expect(await recorded(workplace)).toEqual(RECORDED);
});
