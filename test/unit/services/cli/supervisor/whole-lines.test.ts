import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { passWholeLines } from '../../../../../services/cli/supervisor/whole-lines.ts';

async function passed(...pieces: (string | Uint8Array)[]): Promise<string[]> {
  const from = new PassThrough();
  const passed: string[] = [];
  passWholeLines(from, (text) => passed.push(text));
  const ended = new Promise((resolve) => from.once('end', resolve));
  for (const piece of pieces) {
    from.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  from.end();
  await ended;
  return passed;
}

test('only whole lines are passed on, however they arrive', async () => {
  expect(await passed('one\ntw', 'o', '\nthree\nfour\n')).toEqual(['one\n', 'two\nthree\nfour\n']);
});

test('the end of the stream ends a line, and a split character is put together', async () => {
  const bytes = new TextEncoder().encode('é\nend');
  expect(await passed(bytes.subarray(0, 1), bytes.subarray(1))).toEqual(['é\n', 'end\n']);
});

test('a line that gets too long is passed on before its end', async () => {
  const long = 'x'.repeat(600_000);
  expect((await passed(long, long, 'y\n')).map((text) => text.length)).toEqual([1_200_001, 2]);
});
