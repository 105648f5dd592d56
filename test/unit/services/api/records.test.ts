import { EventEmitter, once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ReadingPlaces } from '../../../../services/api/reading-places.ts';
import { closing } from '../../../../services/api/routes/records.ts';
import { doneRecord } from '../../../support/builders.ts';
import { openApi } from './setup.ts';

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

test('eight clients can read records at once; a ninth is refused until one of them is done or has left', async () => {
  const { ask, folder, server } = await openApi();
  const run = join(folder, 'large');
  await mkdir(run);
  // Far more than the buffers of sockets hold.
  const content = 'x'.repeat(100_000);
  const records = Array.from({ length: 300 }, (_, n) => doneRecord(`http://a.test/${n}`, { run: 'large', content }));
  await writeFile(join(run, 'w.jsonl'), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const leaving = new AbortController();
  const url = new URL('/api/runs/large/records', server.url);
  const read = async () => await fetch(url, { signal: leaving.signal });
  const readers = await Promise.all(Array.from({ length: 8 }, read));
  expect(readers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  const refused = await ask('/api/runs/large/records');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  expect((await ask('/healthz')).status).toBe(200);
  leaving.abort();
  await expect.poll(async () => (await ask('/api/runs/large/records?format=csv')).status).toBe(200);
});

test('a client that reads nothing of its answer is cut off, and a slow reader is not', async () => {
  const places = new ReadingPlaces(2, 50);
  const open = () => {
    const answer = Object.assign(new EventEmitter(), {
      closed: false,
      writableNeedDrain: true,
      socket: { bytesWritten: 1 },
      destroy: () => answer.emit('close'),
    });
    places.take(answer as unknown as ServerResponse);
    onTestFinished(() => void answer.destroy());
    return answer;
  };
  const [stalled, slow] = [open(), open()];
  const reading = setInterval(() => slow.socket.bytesWritten++, 5);
  onTestFinished(() => clearInterval(reading));
  const left = vi.fn();
  slow.once('close', left);
  await once(stalled, 'close');
  open();
  expect(open).toThrow('2 clients are reading records already');
  expect(left).not.toHaveBeenCalled();
});

test('each item of a page is a row of CSV', async () => {
  const { ask, folder } = await openApi();
  await mkdir(join(folder, 'several'));
  const data = [{ sku: 'a' }, { sku: 'b' }];
  const record = doneRecord('http://a.test/1', { run: 'several', step: 'list', data, items: 2 });
  await writeFile(join(folder, 'several', 'w.jsonl'), `${JSON.stringify(record)}\n`);
  const read = async (query: string) => (await ask(`/api/runs/several/records?${query}`)).text;
  expect(await read('format=csv&fields=sku,url')).toBe('sku,url\r\na,http://a.test/1\r\nb,http://a.test/1\r\n');
  expect((await read('format=csv')).split('\r\n')).toHaveLength(4);
});

test('offset and limit select rows in every format, and must be whole numbers', async () => {
  const { ask, folder } = await openApi();
  await mkdir(join(folder, 'paged'));
  const records = Array.from({ length: 4 }, (_, n) =>
    doneRecord(`http://a.test/${n}`, {
      run: 'paged',
      step: 'list',
      data: [{ sku: `${n}a` }, { sku: `${n}b` }],
      items: 2,
    }),
  );
  // Read in the order of the files' names, whatever that of the folder.
  for (const n of [3, 1, 0, 2])
    await writeFile(join(folder, 'paged', `w-${n}.jsonl`), `${JSON.stringify(records[n])}\n`);
  const read = async (query: string) => (await ask(`/api/runs/paged/records?${query}`)).text;
  const skus = async (query: string) =>
    JSON.parse(await read(`format=json&fields=sku&${query}`)).map(({ sku }: { sku: string }) => sku);
  expect(await skus('')).toEqual(['0a', '0b', '1a', '1b', '2a', '2b', '3a', '3b']);
  expect(await skus('offset=1&limit=4')).toEqual(['0b', '1a', '1b', '2a']);
  expect(await skus('limit=1')).toEqual(['0a']);
  expect(await skus('offset=7&limit=4')).toEqual(['3b']);
  expect(await skus('offset=8')).toEqual([]);
  expect(await skus('offset=1&limit=1&where=sku=1a,2b')).toEqual(['2b']);
  expect(await read('format=csv&fields=sku&offset=2&limit=2')).toBe('sku\r\n1a\r\n1b\r\n');
  expect((await read('limit=2')).split('\n').map((line) => line && JSON.parse(line).url)).toEqual([
    'http://a.test/0',
    'http://a.test/1',
    '',
  ]);
  for (const wrong of ['limit=0', 'limit=', 'limit=1e2', 'offset=-1', 'offset=x', 'limit=1&limit=2']) {
    const { status, json } = await ask(`/api/runs/paged/records?${wrong}`);
    expect([status, json.detail], wrong).toEqual([
      400,
      expect.stringContaining(`querystring.${wrong.split('=')[0]}: `),
    ]);
  }
});
