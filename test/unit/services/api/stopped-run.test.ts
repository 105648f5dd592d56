import { expect, test } from 'vitest';
import { openEmbedded } from '../../../../shared/backends/embedded.ts';
import { runOptionsOf } from '../../../../shared/control/run-options.ts';
import type { Beginning } from '../../../../shared/ports/local-runs.ts';
import { offerOf } from '../../../support/stores/embedded.ts';
import { openApi, openSite } from './setup.ts';

/** A local API that has stopped in the middle of run `r`, and another one over the same folder. */
async function stopped(body: object, offers?: object) {
  const first = await openApi();
  await first.ask('/api/runs', { body: { run: 'r', options: { rate: '2/s' }, ...body } });
  if (offers !== undefined) await first.ask('/api/runs/r/offers', { body: offers });
  const done = async (): Promise<number> => (await first.ask('/api/runs/r')).json.done;
  await expect.poll(done).toBeGreaterThan(0);
  await first.server.stop();
  const { ask, ...second } = await openApi({ OUTPUT_DIR: first.folder });
  const post = (path: string, asked: object = {}) => ask(path, { method: 'POST', body: asked });
  const run = async () => (await ask('/api/runs/r')).json;
  const urls = async (): Promise<string[]> => {
    const { text } = await ask('/api/runs/r/records?format=csv&fields=url');
    return text.trim().split('\r\n').slice(1);
  };
  return { ...second, ask, post, run, urls };
}

function pages(site: { url(path: string): string }, count: number): string[] {
  return Array.from({ length: count }, (_, n) => site.url(`/page/${n + 1}`));
}

test('a run that stopped with its local API is shown as stopped, and continues when it is resumed', async () => {
  const site = await openSite();
  const seeds = pages(site, 6);
  const { post, run, urls } = await stopped({ seeds });
  expect(await run()).toMatchObject({ state: 'running', stoppedAt: expect.any(String), inFlight: 0 });
  expect(await post('/api/runs/r/resume')).toMatchObject({ status: 200, json: { is: 'running' } });
  const { stoppedAt } = await run();
  expect(stoppedAt, 'it is crawled again').toBeUndefined();
  expect(await post('/api/runs/r/resume'), 'twice does no harm').toMatchObject({ status: 200 });
  await expect.poll(async () => (await run()).state).toBe('finished');
  expect((await urls()).toSorted(), 'each page once').toEqual(seeds);
  expect(await post('/api/runs/r/resume')).toMatchObject({ status: 409 });
});

test('a paused run that stopped with its local API is resumed with one request', async () => {
  const site = await openSite();
  const first = await openApi();
  const post = (path: string, body: object) => first.ask(path, { body });
  await post('/api/runs', { run: 'r', seeds: pages(site, 4), options: { rate: '2/s' } });
  await post('/api/runs/r/pause', {});
  await first.server.stop();
  const { ask } = await openApi({ OUTPUT_DIR: first.folder });
  expect((await ask('/api/runs/r')).json).toMatchObject({ state: 'paused', stoppedAt: expect.any(String) });
  expect((await ask('/api/runs/r/resume', { method: 'POST', body: {} })).json).toMatchObject({
    was: 'paused',
    is: 'running',
  });
  await expect
    .poll(async () => (await ask('/api/runs/r')).json)
    .toMatchObject({
      state: 'finished',
      done: 4,
    });
});

test('a run that waits for offers takes them after its local API was started again', async () => {
  const site = await openSite();
  const [a = '', b = '', c = ''] = pages(site, 3);
  const { post, run, urls } = await stopped({ seeds: [] }, { urls: [a] });
  expect(await run()).toMatchObject({ stoppedAt: expect.any(String), sealed: false });
  expect((await post('/api/runs/r/offers', { urls: [b] })).json).toMatchObject({ discovered: 1 });
  await expect.poll(async () => (await run()).done).toBe(2);
  expect(await run(), 'it still waits for offers').toMatchObject({ state: 'running', sealed: false });
  await post('/api/runs/r/offers', { urls: [c], last: true });
  await expect.poll(async () => (await run()).state).toBe('finished');
  expect((await urls()).toSorted()).toEqual([a, b, c]);
});

test('opening such a run again has it crawled, too', async () => {
  const site = await openSite();
  const { post, run } = await stopped({ seeds: [] }, { urls: pages(site, 3) });
  expect(await post('/api/runs', { run: 'r', seeds: [] })).toMatchObject({ status: 202 });
  await expect.poll(run).toMatchObject({ done: 3, state: 'running' });
});

/** A local API over a folder with a run that the command line began and has left. */
async function begunBy({ read, ...begun }: Partial<Beginning> & { readonly read?: string }) {
  const { ask, settings, folder } = await openApi();
  const options = runOptionsOf(settings, 'run');
  const begin = { run: 'r', options, crawler: 'generic', seeds: [], flags: {}, ...begun };
  const { owned, runs, frontier, close } = await openEmbedded(settings, { begin, syncRecords: async () => {} });
  await runs.open('r', options, 'producer');
  if (read !== undefined) {
    await frontier.offer('r', [offerOf(read)]);
    await runs.seal('r', 'producer');
  }
  await owned?.close();
  close();
  const resume = () => ask('/api/runs/r/resume', { method: 'POST', body: {} });
  return { ask, resume, folder };
}

test('a run that the command line began is resumed with the flags that it was begun with', async () => {
  const site = await openSite();
  const seeds = [{ kind: 'page', url: site.url('/page/1') }];
  const { ask, resume } = await begunBy({ seeds, flags: { USER_AGENT: 'Own/1.0', OUTPUT_DIR: '/elsewhere' } });
  expect(await resume()).toMatchObject({ status: 200 });
  await expect.poll(async () => (await ask('/api/runs/r')).json.state).toBe('finished');
  expect(site.requests.map(({ headers }) => headers['user-agent'])).toContain('Own/1.0');
});

test.each<[string, Partial<Beginning>, RegExp]>([
  ['the file of a crawler', { crawler: './mine.ts' }, /file of a crawler/],
  ['a list that was not read to the end', { seeds: [{ kind: 'list', path: '/urls.txt' }] }, /list/],
  ['standard input', { seeds: [{ kind: 'input' }] }, /list/],
  ['another sink', { sink: 'postgres://elsewhere' }, /has its records in postgres:\/\/elsewhere/],
])('a run begun with %s is left to the command line', async (_, begun, why) => {
  const { ask, resume } = await begunBy(begun);
  const { status, json } = await resume();
  expect([status, json.code]).toEqual([409, 'wrong_state']);
  expect(json.detail).toMatch(why);
  expect(json.detail).toMatch(/crawl --resume r$/);
  expect((await ask('/api/runs/r')).json, 'nothing has changed').toMatchObject({ stoppedAt: expect.any(String) });
});

test('offers do not continue a run that the command line began: its flags may allow more than those of this API', async () => {
  const { ask } = await begunBy({ seeds: [{ kind: 'page', url: 'http://127.0.0.1:1/' }], crawler: './mine.ts' });
  const offered = await ask('/api/runs/r/offers', { body: { urls: ['http://127.0.0.1:1/a'] } });
  expect([offered.status, offered.json.discovered]).toEqual([200, 1]);
  expect((await ask('/api/runs', { body: { run: 'r', seeds: [] } })).status).toBe(202);
  expect((await ask('/api/runs/r')).json).toMatchObject({ stoppedAt: expect.any(String), waiting: 1 });
});

test('a run whose crawler is gone is refused with a sentence that names it', async () => {
  const { resume } = await begunBy({ crawler: 'gone', flags: { CRAWLER: 'gone' } });
  const { status, json } = await resume();
  expect([status, json.code]).toEqual([409, 'wrong_state']);
  expect(json.detail).toContain('gone');
});

test('a list that was read to the end is no obstacle', async () => {
  const site = await openSite();
  const { ask, resume } = await begunBy({
    seeds: [{ kind: 'list', path: '/urls.txt' }],
    read: site.url('/page/1'),
  });
  expect(await resume()).toMatchObject({ status: 200 });
  await expect
    .poll(async () => (await ask('/api/runs/r')).json)
    .toMatchObject({
      state: 'finished',
      done: 1,
    });
});
