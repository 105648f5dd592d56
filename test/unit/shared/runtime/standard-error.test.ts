import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const LOGGER = join(import.meta.dirname, '../../../../shared/runtime/logger.ts');

/** A process that logs in two batches, works on meanwhile, and ends in one of two ways. */
function logging(stderr: 'pipe' | number, exit: string) {
  const script = `
    import { openLog } from ${JSON.stringify(LOGGER)};
    const log = openLog({ level: 'info', format: 'json' });
    const batch = () => { for (let n = 0; n < 50; n++) log.info({ n }, 'a line'); };
    process.stdin.once('data', () => {
      batch();
      setTimeout(() => {
        batch();
        process.stdout.write('worked');
        log.close();
        ${exit}
      }, 300);
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', stderr] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const worked = child.stdout?.toArray() ?? [];
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  return { child, worked, ended, begin: () => child.stdin?.end('go') };
}

const ENDS = ['process.exit();', 'process.stdin.destroy();'];

test.each(ENDS)('a full disk costs lines, not the process: %s', async (exit) => {
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const { worked, ended, begin } = logging(full, exit);
  begin();
  expect(await ended).toEqual([0, null]);
  expect(String(await worked)).toBe('worked');
});

test.each(ENDS)('a pipe that nobody reads any more costs lines, not the process: %s', async (exit) => {
  const { child, worked, ended, begin } = logging('pipe', exit);
  child.stderr?.destroy();
  begin();
  expect(await ended).toEqual([0, null]);
  expect(String(await worked)).toBe('worked');
});

test.each(ENDS)('all lines are there when the process has ended: %s', async (exit) => {
  const { child, ended, begin } = logging('pipe', exit);
  const lines = child.stderr?.toArray() ?? [];
  begin();
  await ended;
  expect((await lines).join('').trimEnd().split('\n')).toHaveLength(100);
});
