import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { installPackages } from './debian.ts';
import { which } from './machine.ts';

/**
 * Prometheus' own checker, installed if need be: as root on Debian by `apt-get`. It judges what we export, and the files in
 * `monitoring/`.
 *
 * @throws Error that says what to install
 */
export function needPromtool(): Promtool {
  const program = which('promtool') ?? installPromtool();
  if (program === undefined)
    throw new Error('No promtool found, which is part of Prometheus: sudo apt-get install prometheus');
  return new Promtool(program);
}

function installPromtool(): string | undefined {
  installPackages('prometheus');
  return which('promtool');
}

/** Runs it. Each method resolves with what it said, and rejects with that if anything is wrong. */
export class Promtool {
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
  }

  async check(what: 'config' | 'rules', file: string): Promise<string> {
    return await this.#run(['check', what, file]);
  }

  async testRules(file: string): Promise<string> {
    return await this.#run(['test', 'rules', file]);
  }

  /** An exposition: its form, and the names and helps of its metrics. */
  async checkMetrics(text: string): Promise<string> {
    return await this.#run(['check', 'metrics'], text);
  }

  async #run(args: readonly string[], input?: string): Promise<string> {
    const running = promisify(execFile)(this.#program, args);
    running.child.stdin?.end(input);
    try {
      const { stdout, stderr } = await running;
      return `${stdout}${stderr}`;
    } catch (error: unknown) {
      const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
      throw new Error(`promtool ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
    }
  }
}
