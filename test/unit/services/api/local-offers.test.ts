import { expect, test } from 'vitest';
import { openLocalRuns } from '../../../../shared/backends/embedded.ts';
import { openApi, openSite } from './setup.ts';

/** A run of a local API that waits for offers. */
async function setup() {
  const site = await openSite();
  const api = await openApi();
  const opened = await api.ask('/api/runs', { body: { run: 'r', seeds: [] } });
  const offer = (body: object) => api.ask('/api/runs/r/offers', { body });
  const counts = async (): Promise<object> => {
    const { state, done, waiting } = (await api.ask('/api/runs/r')).json;
    return { state, done, waiting };
  };
  return { ...api, site, opened, offer, counts };
}

test('a local API crawls what is offered to a run, until the last offer', async () => {
  const { ask, site, opened, offer, counts } = await setup();
  expect([opened.status, opened.json]).toEqual([
    202,
    expect.not.objectContaining({ workerCommand: expect.anything() }),
  ]);
  await offer({ urls: [site.url('/page/1')] });
  await expect.poll(counts).toEqual({ state: 'running', done: 1, waiting: 0 });
  expect((await ask('/api/runs', { body: { run: 'r', seeds: [] } })).status, 'and can be opened again').toBe(202);
  await offer({ urls: [site.url('/page/2')] });
  await expect.poll(counts).toEqual({ state: 'running', done: 2, waiting: 0 });
  expect((await offer({ urls: [site.url('/page/3')], last: true })).json).toMatchObject({
    discovered: 1,
    sealed: true,
  });
  await expect.poll(counts).toEqual({ state: 'finished', done: 3, waiting: 0 });
  const { text } = await ask('/api/runs/r/records?format=csv&fields=url');
  const urls = ['/page/1', '/page/2', '/page/3'].map((path) => site.url(path));
  expect(text.trim().split('\r\n')).toEqual(['url', ...urls]);
  expect((await ask('/api/runs', { body: { run: 'r', seeds: [] } })).status, 'it has ended').toBe(409);
});

test('a run that waits for offers can be resumed once its local API has stopped', async () => {
  const { offer, server, settings } = await setup();
  await offer({ urls: ['http://a.test/'] });
  await server.stop();
  const runs = await openLocalRuns(settings);
  const found = await runs.view('r');
  runs.close();
  expect([found?.beginning.run, found?.ended]).toEqual(['r', undefined]);
});
