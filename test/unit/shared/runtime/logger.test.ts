import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const LOGGER = join(import.meta.dirname, '../../../../shared/runtime/logger.ts');

/** Returns the standard error of a process that logs two lines, or one with these fields. */
async function logged(options: object, fields?: object): Promise<string[]> {
  const script = `
    import { openLog } from ${JSON.stringify(LOGGER)};
    const log = openLog(${JSON.stringify({ level: 'info', ...options })});
    const fields = ${JSON.stringify(fields)};
    if (fields !== undefined) {
      log.info(fields, 'done');
      log.close();
      process.exit();
    }
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

test.each(['pretty', 'json'])(
  '%s: what others wrote moves no cursor, sets no title and forges no line',
  async (format) => {
    const hostile = 'a\u001b[2J\u001b]0;title\u0007\n[00:00:00] INFO: forged\u009b1A\u202e\u2028b\u007f';
    const lines = await logged({ format }, { url: hostile, error: hostile, other: hostile, list: [hostile] });
    expect(lines.length).toBe(2);
    expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028]/u);
    if (format === 'json') expect(JSON.parse(lines[0] ?? '')).toMatchObject({ url: hostile, list: [hostile] });
    else
      expect(lines[0]).toContain('INFO: done a\\u001b[2J\\u001b]0;title\\u0007\\u000a[00:00:00] INFO: forged\\u009b1A');
  },
);

test('over a progress line, each line clears it first', async () => {
  const [first, second, rest] = await logged({ format: 'pretty', overProgress: true });
  expect(first).toMatch(/^\r\u001b\[J\[\S+\] INFO: done/);
  expect(second).toMatch(/^\r\u001b\[J\[\S+\] WARN: connection lost/);
  expect(rest).toBe('');
});
