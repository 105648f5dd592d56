import { once } from 'node:events';
import { expect, test } from 'vitest';
import { closing, countDone } from '../../../../services/api/routes/records.ts';
import type { PageRecord } from '../../../../shared/ports/record.ts';

async function* lines(): AsyncGenerator<string> {
  yield 'a';
  yield 'b';
}

test.each([
  ['read to its end', async (body: ReturnType<typeof closing>) => expect(await body.toArray()).toEqual(['a', 'b'])],
  ['left half-way', async (body: ReturnType<typeof closing>) => void body.once('data', () => body.destroy())],
  ['left before it began', async (body: ReturnType<typeof closing>) => void body.destroy()],
])('records %s are closed, once', async (_, use) => {
  let closed = 0;
  const body = closing({ close: async () => void closed++ }, lines());
  const over = once(body, 'close');
  await use(body);
  await over;
  expect(closed).toBe(1);
});

test('records are read no further once whoever asked has left', async () => {
  let read = 0;
  const source = {
    async *read() {
      for (;;) {
        read++;
        yield { outcome: 'done' } as PageRecord;
      }
    },
  };
  await expect(countDone(source, 'r1', undefined, () => read === 5)).rejects.toThrow('whoever asked has left');
  expect(read).toBe(5);
});
