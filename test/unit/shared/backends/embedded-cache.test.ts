import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../../../shared/backends/embedded.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';

const PAGE = { finalUrl: 'https://a.test/', status: 200, headers: {}, durationMs: 1, body: new Uint8Array(10) };

async function keeps(environment: Readonly<Record<string, string>>): Promise<boolean> {
  const { cache, close } = await openEmbedded(settingsFrom({ flag: {}, environment, file: {} }));
  onTestFinished(close);
  await cache.set('https://a.test/', PAGE);
  return (await cache.get('https://a.test/')) !== undefined;
}

test('a crawl of one process keeps responses only if CACHE_TTL is set', async () => {
  expect(await keeps({})).toBe(false);
  expect(await keeps({ CACHE_TTL: '60s' })).toBe(true);
  expect(await keeps({ CACHE_TTL: 'none' })).toBe(false);
});
