import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const LOGGER = join(import.meta.dirname, '../../../shared/logger.ts');

/** What a process that logs two lines leaves on standard error. */
async function logged(options: object): Promise<string[]> {
  const script = `
    import { openLog } from ${JSON.stringify(LOGGER)};
    const log = openLog(${JSON.stringify({ level: 'info', ...options })});
    log.info({ status: 200, url: 'https://example.com/', durationMs: 35, worker: 'a-1234' }, 'done');
    log.debug({}, 'not this one');
    log.warn({ what: 'Redis' }, 'connection lost, trying again:');
    log.close();`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return stderr.split('\n');
}

test('pretty is one short line a person can read per event, though it goes to no terminal', async () => {
  const [first, second, ...rest] = await logged({ format: 'pretty' });
  expect(first).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: done 200 https:\/\/example\.com\/ durationMs=35$/);
  expect(second).toMatch(/^\[\d\d:\d\d:\d\d\] WARN: connection lost, trying again: Redis$/);
  expect(rest).toEqual(['']);
});

test('json is one object a line, with a constant message', async () => {
  const lines = await logged({ format: 'json', fields: { run: 'r1' } });
  expect(lines.filter((line) => line !== '').map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 30, msg: 'done', status: 200, run: 'r1', worker: 'a-1234' }),
    expect.objectContaining({ level: 40, msg: 'connection lost, trying again:', what: 'Redis' }),
  ]);
});

test('over a progress line, each line clears it first, wraps where it is long, and stays when the progress line goes', async () => {
  const [first, second, rest] = await logged({ format: 'pretty', overProgress: true });
  expect(first).toMatch(/^\r\u001b\[K\u001b\[\?7h\[\S+\] INFO: done/);
  expect(second).toMatch(/^\u001b7\r\u001b\[K\u001b\[\?7h\[\S+\] WARN: connection lost/);
  expect(rest).toBe('\u001b7');
});
