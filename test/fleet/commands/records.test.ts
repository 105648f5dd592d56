import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const SEPARATORS = '\u2028{}\u2029[]\u2028';

test('Unicode line separators in a page neither lose nor split its record', async () => {
  const site = new TestSite({ pages: 3 });
  await site.start();
  onTestFinished(() => site.stop());
  site.on('/odd', (_, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(`<title>a${SEPARATORS}b</title>${SEPARATORS}`),
  );
  const workplace = await openWorkplace();
  const urls = ['/page/1', '/odd', '/page/2'].map((path) => site.url(path)).join('\n');
  const crawl = ['crawl', '-', '--run', 'odd', '--content', 'html', ...AT_FULL_SPEED];
  expect(await workplace.json(crawl, urls)).toMatchObject({ done: 3 });
  const { code, stdout, stderr } = await workplace.run(['records', 'odd']);
  expect([code, stderr, stdout.split(/[\n\r\u2028\u2029]/).length]).toEqual([0, '', 4]);
  const contents = (await workplace.records('odd')).map(({ content }) => content);
  expect(contents.some((content) => content.includes(SEPARATORS))).toBe(true);
});

test('records counts and lists broken lines of a file, escaped, and prints all real records', async () => {
  const workplace = await openWorkplace();
  const { run, records } = await workplace.json(['demo', '--rate', 'none']);
  const folder = join(workplace.folder, 'output', run);
  const [file = ''] = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const odd = ['{}', 'no \u001b[2JJSON', `{"task":"x:1","release":1}`, '7', '8'];
  await appendFile(join(folder, file), `${odd.join('\n')}\n{"torn":`);
  const path = `output/${run}/${file}`;
  const { code, stdout, stderr } = await workplace.run(['records', run]);
  const named = stderr.replaceAll(/line \d+/g, 'line N').split('\n');
  expect(named).toEqual([
    'trawl: lines left out because they are not records: 5',
    `  ${path}, line N: {}`,
    `  ${path}, line N: no \\u001b[2JJSON`,
    `  ${path}, line N: {"task":"x:1","release":1}`,
    '  and 2 more',
    '',
  ]);
  expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, records]);
  const toFile = await workplace.run(['records', run, '--format', 'csv', '-o', 'out.csv']);
  expect([toFile.code, toFile.stderr]).toEqual([
    0,
    expect.stringContaining(`${records} records written to out.csv\ntrawl: `),
  ]);
});
