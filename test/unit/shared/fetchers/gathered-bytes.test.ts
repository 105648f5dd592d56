import { expect, test } from 'vitest';
import { GatheredBytes } from '../../../../shared/fetchers/gathered-bytes.ts';
import { collectGarbage } from '../../../support/hostile/garbage.ts';

test('chunks of any size come together in their order', () => {
  for (const sizes of [[], [5], [0], [1, 2, 3], [3_000, 1], [1, 3_000]]) {
    // Enough chunks for small ones to be packed; the others are not.
    for (const times of [1, 1_500]) {
      const chunks = sizes.flatMap((size) => Array.from({ length: times }, (_, n) => Buffer.alloc(size, n)));
      if (chunks.length > 2_000 && sizes.includes(3_000)) chunks.length = 2_000;
      const gathered = new GatheredBytes();
      for (const chunk of chunks) gathered.add(chunk);
      const whole = Buffer.concat(chunks);
      expect(gathered.length).toBe(whole.length);
      expect(Buffer.compare(gathered.whole(), whole)).toBe(0);
    }
  }
});

test('a single chunk is not copied', () => {
  const [chunk, gathered] = [Buffer.from('well'), new GatheredBytes()];
  gathered.add(chunk);
  expect(gathered.whole()).toBe(chunk);
});

test('small chunks hold little more memory than their bytes, and not the blocks they were read into', async () => {
  const gathered = new GatheredBytes();
  collectGarbage();
  const before = process.memoryUsage();
  for (let read = 0; read < 200; read++) {
    const block = Buffer.alloc(65_536);
    for (let at = 0; at < 2_000; at++) gathered.add(block.subarray(at, at + 1));
  }
  const held = (): number => {
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers;
  };
  // Unpacked, they would take 60 MB, and their blocks 13. A thread of V8 frees the blocks, and their count follows later.
  await expect.poll(held).toBeLessThan(5_000_000);
  expect(gathered.whole()).toHaveLength(400_000);
});
