import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openWithoutWaiting, Terminal } from '../../../../shared/runtime/standard-error.ts';

const LOGGER = join(import.meta.dirname, '../../../../shared/runtime/logger.ts');

/** A process that logs in two batches, keeps working meanwhile, and ends in one of two ways. */
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

/** A pipe that waits for its reader, like a terminal that somebody has stopped, and the text read from it. */
function pipe() {
  const folder = mkdtempSync(join(tmpdir(), 'trawl-pipe-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR);
  const own = openWithoutWaiting(fd) ?? -1;
  onTestFinished(() => {
    for (const each of [fd, own]) closeSync(each);
    rmSync(folder, { recursive: true });
  });
  const buffer = Buffer.alloc(1_000_000);
  return { own, read: () => buffer.toString('latin1', 0, readSync(fd, buffer)) };
}

test.runIf(process.platform === 'linux')(
  'a terminal that is stopped holds up nothing: drawings are left out, lines come later',
  () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { own, read } = pipe();
    const terminal = new Terminal(() => own);
    let drawings = 0;
    for (; drawings < 10_000; drawings++) terminal.draw(`${'.'.repeat(100)}\n`);
    terminal.write('a line\n');
    let shown = read();
    vi.advanceTimersByTime(1_000);
    terminal.draw('the last drawing');
    shown += read();
    const lines = shown.split('\n');
    expect(lines.slice(-2)).toEqual(['a line', 'the last drawing']);
    expect(lines.slice(0, -2).every((line) => line.length === 100)).toBe(true);
    expect(lines.length).toBeLessThan(drawings);
  },
);

test('a file is not opened a second time: it would be overwritten from its beginning', () => {
  const file = openSync(import.meta.filename, 'r');
  onTestFinished(() => closeSync(file));
  expect(openWithoutWaiting(file)).toBeUndefined();
});
