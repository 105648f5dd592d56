import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLineOutput } from '../../../../../services/cli/text/line-output.ts';

test('a symbolic link at the name of the temporary file is replaced, not followed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-output-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [path, other] = [join(folder, 'items.csv'), join(folder, 'other')];
  await writeFile(other, 'precious');
  await symlink(other, join(folder, `.items.csv.${process.pid}.tmp`));
  const output = await openLineOutput(path);
  await output.write('url\n');
  await output.finish();
  await output.close();
  expect(await readFile(other, 'utf8')).toBe('precious');
  expect(await readFile(path, 'utf8')).toBe('url\n');
  expect((await readdir(folder)).toSorted()).toEqual(['items.csv', 'other']);
});
