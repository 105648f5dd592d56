import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { lastLinesOf } from '../../../../../shared/runtime/files/last-lines.ts';

async function setup() {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-lines-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'lines');
}

test('all lines of a file are returned backwards, wherever blocks begin', async () => {
  const path = await setup();
  const text = fc.array(fc.constantFrom('a', '\n', '\n\n', 'ü', '𝕏', '\u2028', '\r', 'long-long-long'), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (parts, blockBytes) => {
      await writeFile(path, parts.join(''));
      const lines = await Array.fromAsync(lastLinesOf(path, { blockBytes }));
      expect(lines.map(({ line }) => line)).toEqual(parts.join('').split('\n').filter(Boolean).toReversed());
      for (const [n, { at }] of lines.entries())
        expect(await Array.fromAsync(lastLinesOf(path, { blockBytes, before: at }))).toEqual(lines.slice(n + 1));
    }),
  );
});

test('only the end of a long file is read', async () => {
  const path = await setup();
  const file = await open(path, 'w');
  // A file with a hole in front takes no room.
  await file.write('\nlast but one\nlast\n', 2 ** 36);
  await file.close();
  const lines = lastLinesOf(path);
  expect((await lines.next()).value).toMatchObject({ line: 'last' });
  expect((await lines.next()).value).toMatchObject({ line: 'last but one' });
  await lines.return();
});

test('a missing file is an error', async () => {
  await expect(lastLinesOf(`${await setup()}-not`).next()).rejects.toMatchObject({ code: 'ENOENT' });
});
