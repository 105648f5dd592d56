import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Trawl } from '../../../support/processes/trawl.ts';

const CHECKOUT = join(import.meta.dirname, '../../../..');
const PROGRAM = join(CHECKOUT, 'services/cli/trawl.ts');
/** A command that runs for longer than this reads for ever. */
const ENDLESS_MS = 30_000;

test('a command run in a removed folder says so', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-gone-'));
  const script = 'rmdir "$PWD" && exec "$0" "$1" status';
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, PROGRAM], { cwd, encoding: 'utf8' });
  expect(stderr).toBe('trawl: the current folder no longer exists: change to another one (cd)\n');
  expect(status).toBe(1);
});

test('a command run in a folder whose path is not UTF-8 says so, and creates no other folder', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-path-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const script =
    'd=$(printf "caf\\351") && mkdir "$d" && cd "$d" && "$0" "$1" status --local; s=$?; rm -r "../$d"; exit $s';
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, PROGRAM], { cwd, encoding: 'utf8' });
  expect(stderr).toBe(
    'trawl: the path of the current folder is not text in UTF-8: rename it, or change to another one (cd)\n',
  );
  expect(status).toBe(1);
  expect(readdirSync(cwd)).toEqual([]);
});

test('an .env in UTF-16, as PowerShell writes it, is refused', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-env-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, '.env'), '\ufeffRATE_LIMIT=1/s\r\n', 'utf16le');
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'status'], { cwd, encoding: 'utf8' });
  expect(stderr).toBe('trawl: expected .env to be text in UTF-8: save it as UTF-8, not as UTF-16\n');
  expect(status).toBe(78);
});

test('an .env that is a folder is refused, and named as one', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-env-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  mkdirSync(join(cwd, '.env'));
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'status'], { cwd, encoding: 'utf8' });
  expect(stderr).toMatch(/^trawl: expected \.env to be a file, found a folder: rename it, .*\n$/);
  expect(status).toBe(78);
});

test('an .env that is a named pipe, as password managers make, is read once, and waited for aloud', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-env-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  spawnSync('mkfifo', [join(cwd, '.env')]);
  const trawl = new Trawl(['status', '--local'], { cwd, env: {} });
  await trawl.says(/^trawl: \.env is a named pipe: waiting until a program writes it$/m);
  writeFileSync(join(cwd, '.env'), 'RATE_LIMIT=fast\nRATE LIMIT\n');
  const { code, stderr } = await trawl.ended;
  expect(stderr).toContain('expected RATE_LIMIT to be ');
  expect(stderr).toContain('.env:2: it is ignored, since it is not NAME=value');
  expect(code).toBe(78);
});

test('worker processes get what their supervisor has read of an .env that is a named pipe', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-env-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  spawnSync('mkfifo', [join(cwd, '.env')]);
  const supervisor = new Trawl(['work', '--processes', '2'], { cwd, env: {} });
  onTestFinished(() => supervisor.signal('SIGKILL'));
  await supervisor.says(/named pipe: waiting until a program writes it$/m);
  writeFileSync(join(cwd, '.env'), 'REDIS_URL=redis://127.0.0.1:1\nRABBITMQ_URL=amqp://127.0.0.1:1\n');
  for (const number of [1, 2]) await supervisor.says(new RegExp(`"process":${number},"what":"Redis at 127.0.0.1:1: `));
  supervisor.signal('SIGTERM');
  const { stderr } = await supervisor.ended;
  expect(stderr.match(/waiting until a program writes it/g), 'written once').toHaveLength(1);
});

test('an .env that links to a device without an end is refused, and /dev/null is an empty one', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-env-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const status = (device: string) => {
    rmSync(join(cwd, '.env'), { force: true });
    symlinkSync(device, join(cwd, '.env'));
    const args = [PROGRAM, 'status', '--local'];
    return spawnSync(process.execPath, args, { cwd, encoding: 'utf8', timeout: ENDLESS_MS });
  };
  const { status: code, stderr } = status('/dev/zero');
  expect(stderr).toMatch(/^trawl: expected \.env to be a file, a named pipe or \/dev\/null, found a device: .*\n$/);
  expect(code).toBe(78);
  expect(status('/dev/null').stderr).toContain('there are no crawls');
});

test('trawl init says what it cannot write, and does not remove an existing folder', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trawl-init-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  symlinkSync('nowhere', join(cwd, 'dangling'));
  mkdirSync(join(cwd, 'empty'));
  const noTemporary = "can't be packed with npm pack: ENOENT: no such file or directory, mkdtemp 'nowhere/";
  for (const [name, said] of [
    ['dangling', "dangling can't be written: EEXIST: "],
    ['empty', noTemporary],
    ['new', noTemporary],
  ] as const) {
    const env = { TMPDIR: 'nowhere', NODE_DISABLE_COMPILE_CACHE: '1' };
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'init', name], { cwd, encoding: 'utf8', env });
    expect(stderr).toContain(said);
    expect(status).toBe(1);
  }
  expect(readdirSync(cwd)).toEqual(['dangling', 'empty']);
});

/** A copy of the checkout on which `npm ci` was never run. */
function bareCheckout(...parts: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'trawl-bare-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const part of ['package.json', 'bin', ...parts])
    cpSync(join(CHECKOUT, part), join(folder, part), { recursive: true });
  return folder;
}

test('a checkout without its packages says npm ci', () => {
  const folder = bareCheckout('services/cli', 'shared');
  const { status, stderr } = spawnSync(process.execPath, ['bin/trawl.cjs', 'demo'], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toMatch(/^trawl: the package [\w-]+ isn't installed: npm ci, in .*trawl-bare-\w+\n$/);
  expect(status).toBe(1);
});

test('npm pack without a compiler says what to install, and a package made without its scripts says how to make it', () => {
  const folder = bareCheckout('scripts');
  const packed = spawnSync('npm', ['pack', '--silent'], { cwd: folder, encoding: 'utf8' });
  expect(packed.stderr).toBe(
    "trawl: it can't be packed, since its compiler isn't installed: npm ci --include=dev --ignore-scripts=false\n",
  );
  expect(packed.status).toBe(1);
  const { status, stderr } = spawnSync(process.execPath, ['bin/trawl.cjs'], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe(
    'trawl: it was packed without its program: pack it again, npm pack --ignore-scripts=false, and install that\n',
  );
  expect(status).toBe(1);
});

// biome-ignore format: a table
test.each([
  ['node', '20.20.2', '20.20.2',    'install a newer one from https://nodejs.org/'],
  ['bun',  '1.4.5',   'Bun 1.4.5',  'install it from https://nodejs.org/'],
  ['deno', '2.9.6',   'Deno 2.9.6', 'install it from https://nodejs.org/'],
])('started by %s %s, trawl says that it needs Node.js 24', (name, version, found, mend) => {
  const versions = `Object.defineProperty(process.versions, '${name}', { value: '${version}' });`;
  const script = `${versions} require(${JSON.stringify(join(PROGRAM, '../../../bin/trawl.cjs'))})`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script, '--', 'demo'], { encoding: 'utf8', env: {} });
  expect(stderr).toBe(`trawl: expected Node.js 24 or newer, found ${found} (${process.execPath}): ${mend}\n`);
  expect(status).toBe(1);
});
