import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { BodyMemory } from '../../../../../shared/fetchers/body-memory.ts';
import { GotFetcher } from '../../../../../shared/fetchers/got/fetcher.ts';
import { PageHold } from '../../../../../shared/ports/fetcher.ts';
import { allowing } from '../../../../support/allowing.ts';
import { TestSite } from '../../../../support/site.ts';

test('nothing is read of a body that waits before it has begun', async () => {
  const site = new TestSite();
  await site.start();
  const bodyMemory = new BodyMemory(100_000);
  const fetcher = new GotFetcher({
    ...{ timeoutMs: 5_000, userAgent: 'T/1', allowedPrivate: allowing('127.0.0.0/8') },
    bodyMemory,
  });
  onTestFinished(async () => {
    await fetcher.stop();
    await site.stop();
  });
  const hold = new PageHold();
  await fetcher.fetch({ url: site.url('/big?bytes=90000'), maxBodyBytes: 100_000, hold });
  const request = fetcher.fetch({ url: site.url('/big?bytes=900000'), maxBodyBytes: 1_000_000 });
  while (bodyMemory.waiting === 0) await sleep(5);
  await sleep(50);
  expect(bodyMemory.usedBytes).toBe(90_000);
  hold.end();
  expect((await request).body).toHaveLength(900_000);
});
