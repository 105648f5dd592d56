import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../../../services/cli/trawl.ts');

test('in a folder that was removed a command says so', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-gone-'));
  const script = 'rmdir "$PWD" && exec "$0" "$1" status';
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, PROGRAM], { cwd, encoding: 'utf8' });
  expect(stderr).toBe('trawl: the folder that this was started in is no longer there: go to another one (cd)\n');
  expect(status).toBe(1);
});
