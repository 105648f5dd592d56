import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { isOutOfFiles, OPEN_FILES_ADVICE } from '../../../../shared/runtime/open-files.ts';

const CLI = join(import.meta.dirname, '../../../../services/cli/trawl.ts');

const emfile = Object.assign(new Error('EMFILE: too many open files, open a'), { code: 'EMFILE' });

test.each([
  ['the error itself', emfile, true],
  ['its cause', new Error('a.sqlite cannot be written', { cause: emfile }), true],
  ['a message that has lost the code', new Error('spawn node EMFILE'), true],
  ['a package.json', new Error('Cannot read package config /a/package.json: too many open files.'), true],
  ['a file that is not there', Object.assign(new Error('ENOENT'), { code: 'ENOENT' }), false],
  ['a database that is not opened although files are left', new Error('unable to open database file'), false],
  ['no error', undefined, false],
])('too many open files: %s', (_, error, isOut) => {
  expect(isOutOfFiles(error)).toBe(isOut);
});

/** Runs a crawl that may open so many files, and returns what it says on standard error. */
async function crawlWith(files: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-files-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const script = `ulimit -n ${files} && exec "$0" "$1" crawl http://127.0.0.1:9/ --output-dir "$2"`;
  const run = promisify(execFile)('sh', ['-c', script, process.execPath, CLI, folder], { cwd: folder });
  return await run.then(
    ({ stderr }) => stderr,
    (error: { readonly stderr: string }) => error.stderr,
  );
}

test.skipIf(process.platform !== 'linux')('a crawl that may open too few files names ulimit', async () => {
  // What it is about to open when none is left depends on how many the engine itself has opened.
  const told = (await Promise.all([22, 24, 26].map(crawlWith))).join('');
  expect(told).toMatch(/too many open files.*ulimit -n/);
  expect(told).not.toMatch(/^ {4}at |another folder/m);
});

test.skipIf(process.platform !== 'linux')(
  'a worker process that cannot be started for that is told, and tried again',
  async () => {
    const script = 'ulimit -n 24 && exec "$0" "$1" work --processes 2';
    const child = spawn('sh', ['-c', script, process.execPath, CLI], { cwd: tmpdir() });
    onTestFinished(() => void child.kill());
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
    const ended = new Promise((resolve) => void child.once('exit', resolve));
    await Promise.race([ended, expect.poll(() => said).toContain('will be restarted')]);
    expect(said).toContain(OPEN_FILES_ADVICE);
    expect(said).not.toMatch(/^ {4}at |a bug/m);
  },
);
