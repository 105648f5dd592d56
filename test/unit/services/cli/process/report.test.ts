import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const CLI = join(import.meta.dirname, '../../../../../services/cli');

/** The exit code and standard error of a process whose command runs `action`. */
async function ended(action: string, level = 'warn'): Promise<{ code: unknown; lines: string[] }> {
  const script = `
    import { withContext } from '${CLI}/command.ts';
    import { watchOutput } from '${CLI}/text/output.ts';
    import { report } from '${CLI}/process/report.ts';
    watchOutput();
    try {
      process.exitCode = await withContext({ logFormat: 'json' }, { logLevel: '${level}' }, async () => {
        ${action}
        return 0;
      });
    } catch (error) {
      process.exitCode = report(error);
    }`;
  return await new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], (error, _, stderr) =>
      resolve({ code: error?.code ?? 0, lines: stderr.trimEnd().split('\n') }),
    );
  });
}

// biome-ignore format: a table
test.each([
  ['thrown by an action',       'undefined.nothing;',                                                      'TypeError'],
  ['thrown by a timer',         'setTimeout(() => { throw new RangeError("far") }); await new Promise(() => setTimeout(() => {}, 60_000));', 'RangeError: far'],
  ['rejected, and not awaited', 'Promise.reject(new TypeError("nobody")); await new Promise(() => setTimeout(() => {}, 60_000));', 'TypeError: nobody'],
  ['that is not an Error',           'throw "text";',                                                           'text'],
])('a bug %s is reported in one line, and its stack only in the log at level debug', async (_, action, said) => {
  const { code, lines } = await ended(action);
  expect([code, lines]).toEqual([1, [expect.stringMatching(/^trawl: a bug in Trawl \S+: .*Set LOG_LEVEL=debug to log its stack trace$/)]]);
  expect(lines[0]).toContain(said);
  const debugged = await ended(action, 'debug');
  const logged = debugged.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).stack);
  expect([debugged.code, debugged.lines.at(-1)]).toEqual([1, lines[0]]);
  if (said !== 'text') expect(logged).toEqual([expect.arrayContaining([expect.stringMatching(/^ {4}at /)])]);
});

// biome-ignore format: a table
test.each([
  ['a timer',              'setTimeout(() => { throw new RangeError("far") });'],
  ['a rejection', 'void Promise.resolve().then(() => { throw new RangeError("far") });'],
])("%s of a crawler that nothing awaits is reported with its line, not as a bug in Trawl", async (_, statement) => {
  const folder = await mkdtemp(join(tmpdir(), 'trawl-report-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'shop.mjs');
  await writeFile(file, `export function late() {\n  ${statement}\n}\n`);
  const action = `(await import('${file}')).late(); await new Promise(() => setTimeout(() => {}, 60_000));`;
  const said = `RangeError: far, in \`${statement}\`: nothing was waiting for this. A step must await everything it starts`;
  expect(await ended(action)).toEqual({ code: 1, lines: [`trawl: ${file}:2: ${said}`] });
});

test('a bug names the innermost line of this program', async () => {
  const { lines } = await ended(`(await import('${CLI}/tables/list-lines.ts')).taskOf(undefined);`);
  expect(lines[0]).toMatch(/, at services\/cli\/tables\/list-lines\.ts:\d+\. Set/);
});

// biome-ignore format: a table
test.each([
  ['a missing file',   "await (await import('node:fs/promises')).readFile('/no/file');",                         1,   "trawl: ENOENT: no such file or directory, open '/no/file'"],
  ['an error reply of Redis',       'throw Object.assign(new Error("OOM command not allowed"), { name: "ReplyError" });',     1,   'trawl: Redis refused a command: OOM command not allowed'],
  ['an aborted signal',          'AbortSignal.abort().throwIfAborted();',                                                  130, 'trawl: interrupted'],
  ['text with control characters',        'throw new (await import("SHARED/runtime/errors.ts")).StorageError("a\\u001b[2Jb");',       1,   'trawl: a\\u001b[2Jb'],
])('%s is reported in one line, not as a bug', async (_, action, code, said) => {
  expect(await ended(action.replace('SHARED', join(CLI, '../../shared')))).toEqual({ code, lines: [said] });
});
