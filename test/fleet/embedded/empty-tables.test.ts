import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AT_FULL_SPEED } from '../../support/full-speed.ts';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { TestSite } from '../../support/site.ts';

const CRAWLER = `import { defineCrawler } from 'trawl';
export default defineCrawler({
  name: 'shop',
  steps: {
    list: { to: ['product'], run: ({ page, follow }) => follow('product', page.links('a.product')) },
    product: { run: ({ page, emit }) => { for (const each of page.all('h2')) emit({ name: each.text }); } },
  },
});`;

const FAILED = 'trawl: pages that failed have no row (--failed lists them, and why)';
const SKIPPED = 'trawl: skipped pages have no row (--skipped lists them, and why)';
const emitted = (steps: string): string => `trawl: ${steps} emitted nothing (--empty adds a row for each page)`;
const TRY = expect.stringMatching(/^trawl: see what a step makes of a page: .* try URL --crawler FILE \(/);

test('a crawl that ends with an empty table says which pages failed, were skipped, or gave nothing', {
  timeout: 120_000,
}, async () => {
  const site = new TestSite();
  await site.start();
  onTestFinished(() => site.stop());
  const page = (path: string, links: readonly string[]): void =>
    site.on(path, (_, response) => {
      const html = links.map((link) => `<a class=product href="${link}">x</a>`).join('');
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    });
  page('/failing', ['/status/404', '/status/403']);
  page('/skipping', ['/type?ct=image/png']);
  page('/nothing', []);
  page('/useless', ['/page/1']);
  const workplace = await openWorkplace();
  await writeFile(join(workplace.folder, 'shop.ts'), CRAWLER);
  const cases: [string, unknown[]][] = [
    ['/status/404', [FAILED]],
    ['/type?ct=image/png', [SKIPPED]],
    ['/failing', [emitted('step list'), TRY, FAILED]],
    ['/skipping', [emitted('step list'), TRY, SKIPPED]],
    ['/nothing', [emitted('step list'), TRY]],
    ['/useless', [emitted('steps list, product'), TRY]],
  ];
  for (const [path, said] of cases) {
    const args = ['crawl', site.url(path), '--crawler', './shop.ts', '-o', 'table.csv', ...AT_FULL_SPEED];
    const { stderr } = await workplace.run(args);
    const lines = stderr.trim().split('\n');
    expect([path, lines.slice(lines.indexOf('0 records written to table.csv') + 1)]).toEqual([path, said]);
  }
});
