import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { LANE_SETTINGS } from '../lane-settings.ts';
import type { AtEnd } from '../shared-by-tests.ts';

/** Without it, each process would strip the types of its first file itself, which takes longer than all others from the cache. */
const { NODE_COMPILE_CACHE } = process.env;
const COMPILE_CACHE = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

const PROGRAM = join(import.meta.dirname, '../../..');

/** The exit code and output of a command. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `trawl` process, as a user would start it. */
export class Trawl {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';
  #waiters: { readonly pattern: RegExp; readonly resolve: () => void }[] = [];

  constructor(args: readonly string[], options: TrawlOptions) {
    const { env, cwd, input, holdsInput = false, under = [], closesOutput = false, program: root = PROGRAM } = options;
    const cli = join(root, 'services/cli/trawl.ts');
    const [program = process.execPath, ...words] = [...under, process.execPath, cli, ...args];
    this.#child = spawn(program, words, {
      cwd,
      // As in the images: lines on standard error that aren't JSON are meant for people.
      env: {
        ...{ PATH: process.env.PATH, HOME: process.env.HOME, TRAWL_COMMAND: 'trawl', LOG_FORMAT: 'json' },
        ...COMPILE_CACHE,
        ...LANE_SETTINGS,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A killed process reads no more input.
    this.#child.stdin?.on('error', () => {});
    if (holdsInput) this.#child.stdin?.write(input ?? '');
    else this.#child.stdin?.end(input);
    if (closesOutput) this.#child.stdout?.destroy();
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#tell();
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#tell();
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => resolve({ code, stdout: this.#stdout, stderr: this.#stderr }));
    });
  }

  /** Resolves once its standard output and error match. Rejects if it ends before. */
  async says(pattern: RegExp): Promise<void> {
    await Promise.race([
      new Promise<void>((resolve) => {
        this.#waiters.push({ pattern, resolve });
        this.#tell();
      }),
      this.ended.then(({ code, stdout, stderr }) => {
        if (!pattern.test(stdout + stderr)) throw new Error(`ended with ${code} and never said ${pattern}:\n${stderr}`);
      }),
    ]);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Its standard output so far, followed by its standard error. */
  get said(): string {
    return this.#stdout + this.#stderr;
  }

  #tell(): void {
    const said = this.#stdout + this.#stderr;
    for (const { pattern, resolve } of this.#waiters) if (pattern.test(said)) resolve();
  }
}

interface TrawlOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input?: string;
  /** Keeps standard input open, as if more were to come. */
  readonly holdsInput?: boolean;
  /** A command to run it with, such as `prlimit --nofile=64`. */
  readonly under?: readonly string[];
  /** The root folder of a copy of the program to run instead of this one. */
  readonly program?: string;
  /** Closes the reading end of its standard output before it writes anything. */
  readonly closesOutput?: boolean;
}

/** A temporary folder to run commands in. `close` kills those still running and removes the folder. */
export class Workplace {
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #started: Trawl[] = [];

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#env = env;
  }

  /** Starts a command. */
  start(args: readonly string[], input?: string, { env, ...extra }: Omit<TrawlOptions, 'cwd' | 'input'> = {}): Trawl {
    const given = input === undefined ? {} : { input };
    const trawl = new Trawl(args, { cwd: this.folder, env: { ...this.#env, ...env }, ...given, ...extra });
    this.#started.push(trawl);
    return trawl;
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], input?: string): Promise<Ended> {
    return await this.start(args, input).ended;
  }

  /** Runs a command with `--json` and reads what it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  async json(args: readonly string[], input?: string): Promise<any> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], input);
    if (code !== 0) throw new Error(`trawl ${args.join(' ')} ended with ${code}:\n${stderr}`);
    return JSON.parse(stdout);
  }

  /** The merged records of a run. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  async records(run: string, ...args: readonly string[]): Promise<any[]> {
    const { stdout } = await this.run(['records', run, ...args]);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  async close(): Promise<void> {
    for (const trawl of this.#started) trawl.signal('SIGKILL');
    await Promise.all(this.#started.map(({ ended }) => ended));
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Opens a workplace that is closed at the end of the test, or by `atEnd`. */
export async function openWorkplace(
  env: Readonly<Record<string, string>> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<Workplace> {
  const workplace = new Workplace(await mkdtemp(join(tmpdir(), 'trawl-cli-')), env);
  atEnd(() => workplace.close());
  return workplace;
}
