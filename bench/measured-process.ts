import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Usage } from './usage-hook.ts';

/** The output and usage of a process that has ended. */
export interface Measured {
  readonly stdout: string;
  readonly wallMs: number;
  readonly usage: Usage;
}

interface MeasuredOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** When it resolves, the process is interrupted, since it would run for hours. */
  readonly until?: Promise<unknown>;
}

/** Exit code of a process that was interrupted. */
const EXIT_INTERRUPTED = 130;
/** Grace period for pages in hand after the interrupt. */
const GRACE_MS = 1_000;

let processes = 0;

/** Runs a TypeScript file in a measured process of its own, and expects it to succeed. */
export async function runMeasured(file: string, args: readonly string[], options: MeasuredOptions): Promise<Measured> {
  const { folder, env = {}, input, until } = options;
  const usageFile = join(folder, `usage-${++processes}.json`);
  const began = performance.now();
  const child = spawn(process.execPath, ['--import', join(import.meta.dirname, 'usage-hook.ts'), file, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, BENCH_USAGE: usageFile, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4_000);
  });
  let isInterrupted = false;
  void until?.then(() => {
    isInterrupted = true;
    child.kill('SIGINT');
    setTimeout(() => child.kill('SIGINT'), GRACE_MS).unref();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== (isInterrupted ? EXIT_INTERRUPTED : 0))
    throw new Error(`${file} ${args.join(' ')} ended with ${code}:\n${stderr}`);
  const usage = JSON.parse(await readFile(usageFile, 'utf8')) as Usage;
  return { stdout, wallMs: performance.now() - began, usage };
}

/** The command line of this checkout. */
export const TRAWL = join(import.meta.dirname, '../services/cli/trawl.ts');
