import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../../..');

/** The files that write to the standard streams themselves, and how they treat text from others. */
const WRITERS = {
  'services/cli/text/line-output.ts': 'takes text that is safe to show',
  'services/cli/text/output.ts': 'makes every line printable',
  'services/cli/text/terminal-line.ts': 'turns wrapping off, and draws printable parts',
  'services/cli/trawl.ts': 'has one sentence of its own',
  'shared/runtime/logger.ts': 'makes every line printable',
  'shared/runtime/standard-error.ts': 'shows what the log and the line of a terminal give it',
};

test('only the listed files write to the standard streams', () => {
  const files = ['services', 'shared', 'crawlers'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const writers = files.filter(
    (file) =>
      file.endsWith('.ts') &&
      /process\.std(out|err)\.write|stream: process\.std|\bterminal\.(write|draw)\(/.test(
        readFileSync(join(ROOT, file), 'utf8'),
      ),
  );
  expect(writers.toSorted()).toEqual(Object.keys(WRITERS));
});

test('the command waits for a slow reader of its output, even for a last write that leaves the buffer room', () => {
  const script = `
    import { Writable } from 'node:stream';
    const slow = new Writable({ write: (_chunk, _encoding, done) => void setTimeout(done, 50) });
    Object.defineProperty(process, 'stdout', { value: slow });
    const { print, finishOutput, watchOutput } = await import('${ROOT}/services/cli/text/output.ts');
    watchOutput();
    print(['a short line']);
    process.exitCode = await finishOutput(7);
    if (slow.writableLength > 0) process.exitCode = 1;`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([7, '']);
});

test("what crawlers log with console doesn't get among a command's output", () => {
  const script = `
    const { printJson, watchOutput } = await import('${ROOT}/services/cli/text/output.ts');
    watchOutput();
    console.log('a step');
    printJson({ done: 1 });`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['{"done":1}\n', 'a step\n']);
});
