import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openWorkplace } from '../../support/processes/trawl.ts';
import { selfSigned } from '../../support/site/certificate.ts';
import { TestSite } from '../../support/site.ts';

const LINKS = Array.from({ length: 100_000 }, (_, n) => `<a href="/${n}">${n}</a>`).join('\n');

/** Pages made to do harm, and the outcome of each. */
const HOSTILE: readonly (readonly [path: string, ending: string])[] = [
  ['/bomb?mb=30', 'skipped size'],
  ['/bomb?mb=30&coding=br', 'skipped size'],
  ['/endless', 'skipped size'],
  ['/drip?ms=100&bytes=1000000', 'failed timeout'],
  ['/drip-headers', 'failed timeout'],
  ['/hang', 'failed timeout'],
  ['/endless-headers', 'failed connection'],
  ['/truncated', 'failed connection'],
  ['/overlong', 'failed connection'],
  ['/bad-gzip', 'failed encoding'],
  ['/cut-br', 'failed encoding'],
  ['/links', 'done'],
  ['/attributes', 'done'],
  ['/nested', 'done'],
];

async function startSite(options: ConstructorParameters<typeof TestSite>[0] = {}): Promise<TestSite> {
  const site = new TestSite({ pages: 20, ...options });
  await site.start();
  const html = { 'content-type': 'text/html' };
  site.on('/links', (_, response) => response.writeHead(200, html).end(LINKS));
  site.on('/attributes', (_, response) => response.writeHead(200, html).end(`<a ${'a=b '.repeat(2_500_000)}>x</a>`));
  site.on('/nested', (_, response) => response.writeHead(200, html).end('<div>'.repeat(1_900_000)));
  onTestFinished(() => site.stop());
  return site;
}

const [WITHOUT_END, WITH_END] = [
  HOSTILE.filter(([, ending]) => ending === 'failed timeout'),
  HOSTILE.filter(([, ending]) => ending !== 'failed timeout'),
];

// Pages that end get time to do so: how fast 10 MiB are read depends on the machine.
test.each([
  ['endless pages end at their deadline', '2s', WITHOUT_END],
  ['other hostile pages fit in little memory', '30s', WITH_END],
] as const)('%s, each with its reason', async (_, fetchTimeout, pages) => {
  const workplace = await openWorkplace();
  const certificate = join(workplace.folder, 'certificate.pem');
  await writeFile(certificate, selfSigned.cert);
  const [inOrder, secure] = await Promise.all([startSite(), startSite({ tls: true })]);
  // A host of its own for each: several errors of one would open its breaker.
  const sites = await Promise.all(pages.map(() => startSite()));
  const expected = new Map(pages.map(([path, ending], n) => [sites[n]?.url(path) ?? '', ending]));
  expected.set(secure.url('/page/1'), 'done').set(secure.url('/truncated'), 'failed connection');
  for (let n = 1; n <= 20; n++) expected.set(inOrder.url(`/page/${n}`), 'done');
  const flags = ['--private-hosts', '127.0.0.0/8', '--robots', 'ignore', '--rate', 'none', '--content', 'text'];
  // Two slots: unless each is freed in time, no other page gets one.
  const limits = ['--worker-concurrency', '2', '--fetch-timeout', fetchTimeout, '--max-attempts', '1'];
  const env = { NODE_EXTRA_CA_CERTS: certificate, NODE_OPTIONS: '--max-old-space-size=256' };
  const list = [...expected.keys()].join('\n');
  const crawl = workplace.start(['crawl', '-', '--run', 'mine', '--json', ...flags, ...limits], list, { env });
  const { code, stdout, stderr } = await crawl.ended;
  expect(code, stderr).toBe(0);
  const tooLarge = pages.filter(([, ending]) => ending === 'skipped size').length;
  expect(JSON.parse(stdout).reasons.skipped).toEqual(tooLarge === 0 ? {} : { size: tooLarge });
  const ended = [...(await workplace.records('mine')), ...(await workplace.records('mine', '--failed'))];
  const endings = ended.map(({ url, outcome, reason }) => [
    url,
    reason === undefined ? outcome : `${outcome} ${reason}`,
  ]);
  const told = [...expected].filter(([, ending]) => !ending.startsWith('skipped'));
  expect(Object.fromEntries(endings)).toEqual(Object.fromEntries(told));
});
