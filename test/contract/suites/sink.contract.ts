import { describe, expect, onTestFinished, test } from 'vitest';
import type { PageRecord } from '../../../shared/ports/record.ts';
import { RecordRefusedError, type RecordSource, type Sink } from '../../../shared/ports/sink.ts';
import { MAX_RECORD_BYTES } from '../../../shared/task/task/page-limits.ts';
import { doneRecord, failedRecord } from '../../support/builders.ts';

/** The sinks of two processes under test, and a source that reads from both. */
export interface OpenedSinks {
  readonly sink: Sink;
  readonly other: Sink;
  readonly source: RecordSource;
  close(): Promise<void>;
}

export interface SinkGuarantees {
  /** Whether U+0000 and halves of surrogate pairs, which no text should contain, are kept or replaced with U+FFFD. */
  readonly oddCharacters: 'kept' | 'replaced';
}

function page(n: number, extra: Parameters<typeof doneRecord>[1] = {}): PageRecord {
  return doneRecord(`http://a.test/${n}`, extra);
}

/** The contract of every sink, together with its source. */
export function describeSink(name: string, open: () => Promise<OpenedSinks>, guarantees: SinkGuarantees): void {
  describe(`sink: ${name}`, () => {
    async function setup(): Promise<OpenedSinks & { read(run?: string): Promise<PageRecord[]> }> {
      const opened = await open();
      await opened.sink.start();
      await opened.other.start();
      onTestFinished(() => opened.close());
      const read = async (run = 'r'): Promise<PageRecord[]> => {
        const records = await Array.fromAsync(opened.source.read(run));
        return records.toSorted((a, b) => (a.url < b.url ? -1 : 1));
      };
      return { ...opened, read };
    }

    test('nothing can be read before the first record is put', async () => {
      const { source, read } = await setup();
      expect([await source.runs(), await source.has('r'), await read()]).toEqual([[], false, []]);
    });

    test('pages and failures are read back unchanged', async () => {
      const { sink, read } = await setup();
      const records = [
        page(1, {
          data: { list: [1, 'zwei', null, { deep: true }], 'key "quoted"': 1.5e300 },
          content: '<p>ü 🚀\r\n</p>',
          contentOf: 'article',
          article: { title: 'ü 🚀', published: '2026-11-21' },
          redirects: ['http://b.test/', 'http://b.test/1'],
        }),
        page(2, {
          title: null,
          contentType: null,
          step: 'detail',
          insteadOf: 'list',
          items: 0,
          fromCache: true,
          unchanged: true,
          bytes: 2 ** 40,
          depth: 3,
        }),
        failedRecord('http://a.test/3', { reason: 'http_5xx', status: 503, error: 'HTTP 503' }),
        failedRecord('http://a.test/4', { outcome: 'skipped', reason: 'size', from: 'http://a.test/1' }),
      ];
      await Promise.all(records.map((record) => sink.put(record)));
      expect(await read()).toEqual(records);
    });

    test('the data of a page can be any JSON', async () => {
      const { sink, read } = await setup();
      const values = ['text', 0, false, [], {}, null, [[['deep']]], '', { '': '' }];
      await Promise.all(values.map((data, n) => sink.put(page(n + 1, { data }))));
      expect((await read()).map((record) => record.outcome === 'done' && record.data)).toEqual(values);
    });

    test('a record can be read as soon as it is put, whichever sink stored it', async () => {
      const { sink, other, source } = await setup();
      await sink.put(page(1));
      expect(await source.has('r')).toBe(true);
      await other.put(page(2));
      expect((await Array.fromAsync(source.read('r'))).length).toBe(2);
    });

    test('a reader gets the number of done pages before the first record; pages recorded twice may count twice', async () => {
      const { sink, other, source } = await setup();
      const told: (number | string)[] = [];
      const watch = { onCounted: (done: number) => told.push(done) };
      for await (const { url } of source.read('nowhere', watch)) told.push(url);
      await sink.put(page(1, { task: 'r:1', release: 7 }));
      await other.put(failedRecord('http://a.test/1', { task: 'r:1', release: 9 }));
      await other.put(failedRecord('http://a.test/2', { task: 'r:2', release: 7 }));
      await sink.put(page(2, { task: 'r:2', release: 9 }));
      await other.put(failedRecord('http://a.test/3', { task: 'r:3', release: 7 }));
      for await (const { outcome } of source.read('r', watch)) told.push(outcome);
      const [ofNone, done, ...outcomes] = told;
      expect([ofNone, outcomes.toSorted()]).toEqual([0, ['done', 'failed', 'failed']]);
      expect([1, 2]).toContain(done);
    });

    test('the record of one task is found, from its highest release', async () => {
      const { sink, other, source } = await setup();
      await sink.put(page(1, { task: 'r:1', release: 7, title: 'old' }));
      await other.put(page(1, { task: 'r:1', release: 9, title: 'new' }));
      await sink.put(page(2, { task: 'r:2', release: 9, title: 'new' }));
      await other.put(page(2, { task: 'r:2', release: 7, title: 'old' }));
      for (const task of ['r:1', 'r:2'])
        expect(await source.find('r', task)).toMatchObject({ task, release: 9, title: 'new' });
      expect(await source.find('r', 'r:3')).toBeUndefined();
      expect(await source.find('elsewhere', 'r:1')).toBeUndefined();
    });

    test('runs are separate', async () => {
      const { sink, source, read } = await setup();
      for (const run of ['a', 'b', 'c-1']) await sink.put(page(1, { run, task: `${run}:1` }));
      expect((await source.runs()).toSorted()).toEqual(['a', 'b', 'c-1']);
      expect([await source.has('b'), await source.has('c'), (await read('c-1')).length]).toEqual([true, false, 1]);
    });

    test('the last run is the one that began last, by its first record', async () => {
      const { sink, other, source } = await setup();
      expect(await source.last()).toBeUndefined();
      const at = (run: string, n: number, minute: number): PageRecord =>
        page(n, { run, task: `${run}:${n}`, fetchedAt: `2026-11-21T12:0${minute}:00.000Z` });
      await sink.put(at('zuerst', 1, 0));
      await sink.put(at('mitte', 1, 1));
      await other.put(at('mitte', 2, 5));
      await other.put(at('danach', 1, 3));
      await sink.put(at('zuerst', 2, 9));
      expect(await source.last()).toBe('danach');
    });

    test('the record of a newer release wins, an older one never does, and the same release again changes nothing', async () => {
      const { sink, other, read } = await setup();
      await sink.put(page(1, { release: 5, title: 'five' }));
      await other.put(page(1, { release: 4, title: 'four' }));
      await other.put(page(1, { release: 5, title: 'five again' }));
      await sink.put(page(2, { release: 3 }));
      await other.put(failedRecord('http://a.test/2', { release: 7 }));
      await sink.put(page(3, { release: 0, title: 'without a ledger' }));
      expect(
        (await read()).map(({ release, outcome, ...rest }) => [release, outcome, 'title' in rest && rest.title]),
      ).toEqual([
        [5, 'done', 'five'],
        [7, 'failed', false],
        [0, 'done', 'without a ledger'],
      ]);
    });

    test('the highest release wins when many arrive at once from two sinks', async () => {
      const { sink, other, read } = await setup();
      const puts: Promise<void>[] = [];
      for (let n = 0; n < 400; n++) {
        const record = page(n % 20, { release: 1 + ((n * 37) % 400) });
        puts.push((n % 2 === 0 ? sink : other).put(record));
        if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(puts);
      const records = await read();
      expect(records.length).toBe(20);
      expect(Math.min(...records.map(({ release }) => release))).toBeGreaterThan(380);
    });

    test('thousands of records come through, each once', async () => {
      const { sink, read } = await setup();
      const records = Array.from({ length: 5_000 }, (_, n) => page(n, { data: { n }, release: n + 1 }));
      await Promise.all(records.map((record) => sink.put(record)));
      expect(new Set((await read()).map(({ release }) => release)).size).toBe(5_000);
    });

    test('a reader that stops halfway leaves the source usable', async () => {
      const { sink, source, read } = await setup();
      await Promise.all(Array.from({ length: 300 }, (_, n) => sink.put(page(n))));
      for (let round = 0; round < 4; round++) {
        for await (const record of source.read('r')) {
          expect(record.run).toBe('r');
          break;
        }
      }
      expect((await read()).length).toBe(300);
    });

    test('content that would make a record too large is cut, and the record lists it as truncated', async () => {
      const { sink, read } = await setup();
      const url = `http://a.test/${'x'.repeat(8_000)}`;
      const content = 'page '.repeat(2_000_000);
      const fits = content.slice(0, 4_000_000);
      await Promise.all([
        sink.put(page(1)),
        sink.put(page(2, { content: fits })),
        sink.put(doneRecord(url, { content, truncated: ['links'] })),
      ]);
      const [, whole, cut] = await read();
      expect(whole?.outcome === 'done' && whole.content === fits && whole.truncated === undefined).toBe(true);
      if (cut?.outcome !== 'done' || cut.content === undefined) throw new Error('expected a page with content');
      expect([cut.url, cut.truncated]).toEqual([url, ['links', 'content']]);
      expect(content.startsWith(cut.content)).toBe(true);
      expect(cut.content.length).toBeGreaterThan(MAX_RECORD_BYTES - 20_000);
    });

    test('a record that is too large without its content is refused, and the next one is stored', async () => {
      const { sink, read } = await setup();
      const data = 'x'.repeat(MAX_RECORD_BYTES);
      const [refused] = await Promise.allSettled([sink.put(page(1, { data, content: 'text' })), sink.put(page(2))]);
      expect(refused.status === 'rejected' && refused.reason).toMatchObject({
        name: 'RecordRefusedError',
        reason: 'too_large',
      });
      expect((await read()).map(({ url }) => url)).toEqual(['http://a.test/2']);
    });

    test(`characters that no text should contain are ${guarantees.oddCharacters}, and do not harm other records`, async () => {
      const { sink, read } = await setup();
      const odd = 'nul \u0000, half \ud83d, other half \udc00, whole 🚀, written \\u0000 and \\ud83d.';
      const mended = 'nul \ufffd, half \ufffd, other half \ufffd, whole 🚀, written \\u0000 and \\ud83d.';
      const expected = guarantees.oddCharacters === 'kept' ? odd : mended;
      await Promise.all([sink.put(page(1, { title: odd, data: { [odd]: [odd] }, content: odd })), sink.put(page(2))]);
      expect(await read()).toMatchObject([
        { title: expected, data: { [expected]: [expected] }, content: expected },
        { url: 'http://a.test/2' },
      ]);
    });

    test('a record that cannot be written as JSON is refused, and the next one is stored', async () => {
      const { sink, read } = await setup();
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      const outcomes = await Promise.allSettled([
        sink.put(page(1, { data: { big: 1n } })),
        sink.put(page(2, { data: circle })),
        sink.put(page(3)),
      ]);
      expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.constructor)).toEqual([
        RecordRefusedError,
        RecordRefusedError,
        false,
      ]);
      expect((await read()).map(({ url }) => url)).toEqual(['http://a.test/3']);
    });

    test('stop waits for pending records, and can be called twice', async () => {
      const { sink, read } = await setup();
      const put = sink.put(page(1));
      await sink.stop();
      await sink.stop();
      await put;
      expect((await read()).length).toBe(1);
    });
  });
}
