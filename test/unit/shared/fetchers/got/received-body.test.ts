import { Readable } from 'node:stream';
import type { Request } from 'got';
import { expect, test } from 'vitest';
import { BodyMemory } from '../../../../../shared/fetchers/body-memory.ts';
import { ReceivedBody } from '../../../../../shared/fetchers/got/received-body.ts';
import { RequestClock } from '../../../../../shared/fetchers/request-clock.ts';
import { FetchError } from '../../../../../shared/ports/fetcher.ts';
import { collectGarbage } from '../../../../support/hostile/garbage.ts';

const MEMORY_BYTES = 10_000_000;
const BODY_BYTES = 200_000;
/** Bytes that arrive between two turns of the event loop. */
const BATCH = 1_000;

test('a body that arrives byte by byte takes little more memory than its bytes', async () => {
  const stream = new Readable({ read: () => {} });
  const share = new BodyMemory(MEMORY_BYTES).open(undefined, BODY_BYTES, new RequestClock());
  const tooLong = (): FetchError => new FetchError('size', 'too long');
  const whole = new ReceivedBody(stream as unknown as Request).whole(BODY_BYTES, tooLong, share);
  collectGarbage();
  const before = process.memoryUsage();
  for (let sent = 0; sent < BODY_BYTES; sent++) {
    stream.push(Buffer.alloc(1, 'x'));
    if (sent % BATCH === 0) await new Promise(setImmediate);
  }
  const held = (): number => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers;
  };
  await expect.poll(held).toBeLessThan(4_000_000);
  stream.push(null);
  expect(await whole).toHaveLength(BODY_BYTES);
});
