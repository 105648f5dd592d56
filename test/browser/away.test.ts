import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openWorkplace } from '../support/processes/trawl.ts';
import { needPrograms } from '../support/servers/ladder.ts';
import { freePort } from '../support/servers/machine.ts';
import { privateServers } from '../support/servers/programs.ts';
import { openChromium } from './chromium.ts';
import { flawsOf, openApi, openPage, picture } from './dashboard.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openChromium();
});
afterAll(() => browser?.close());

test('when the API goes away, the page says so, keeps its figures, and reconnects by itself later', async () => {
  const workplace = await openWorkplace();
  const args = ['--local', '--output-dir', workplace.folder];
  const first = await openApi(args, { workplace });
  const page = await openPage(browser, first, { mayFail: true });
  await page.getByText('Live', { exact: true }).waitFor();
  await first.stop();
  await page.getByText('No new figures: the API does not answer').waitFor();
  await page.getByText('No runs yet.').waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await picture(page, 'away-api');
  const second = await openApi(args, { workplace, port: first.port });
  onTestFinished(() => second.stop());
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText('No new figures').waitFor({ state: 'detached' });
});

test('the page says that Redis and RabbitMQ are away', async () => {
  const [amqp, redis] = [await freePort(), await freePort()];
  const workplace = await openWorkplace({
    RABBITMQ_URL: `amqp://guest:guest@127.0.0.1:${amqp}`,
    REDIS_URL: `redis://127.0.0.1:${redis}`,
  });
  const api = await openApi([], { workplace });
  onTestFinished(() => api.stop());
  const page = await openPage(browser, api, { mayFail: true });
  await page
    .getByText(/Redis is away; RabbitMQ is away. Figures appear/)
    .first()
    .waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await picture(page, 'away-redis');
});

test('when RabbitMQ or Redis goes away under an open page, the page names it, and recovers when it is back', async () => {
  const servers = await privateServers(needPrograms());
  onTestFinished(() => servers.remove());
  await Promise.all([servers.redis.start(), servers.rabbitmq.start()]);
  const workplace = await openWorkplace({ RABBITMQ_URL: servers.rabbitmq.url, REDIS_URL: servers.redis.url });
  const api = await openApi([], { workplace });
  onTestFinished(() => api.stop());
  const open = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const page = await openPage(browser, api, { mayFail: true });
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 30_000 });
  const opened = await fetch(`${api.url}/api/runs`, { ...open, body: JSON.stringify({ run: 'stays', seeds: [] }) });
  expect(opened.status).toBe(202);
  await page.getByRole('link', { name: 'stays' }).first().waitFor();

  await servers.rabbitmq.stop();
  await page.getByText('RabbitMQ is away. Everything that needs it waits.').waitFor({ timeout: 30_000 });
  await page.getByText('Degraded', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'stays' }).first().waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await picture(page, 'away-broker');
  await servers.rabbitmq.start();
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 });
  await page.getByText('RabbitMQ is away').waitFor({ state: 'detached' });

  await servers.redis.stop();
  await page.getByText('No new figures: Redis is away').waitFor({ timeout: 30_000 });
  await page.getByText('Away', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'stays' }).first().waitFor();
  expect(await flawsOf(page)).toEqual([]);
  await picture(page, 'away-redis-later');
  await servers.redis.start();
  await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 });
  await page.getByText('No new figures').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'stays' }).first().waitFor();
}, 240_000);
