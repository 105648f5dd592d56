import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { installPackages } from './debian.ts';
import { which } from './machine.ts';

/**
 * Finds Prometheus' own checker, or installs it, as root on Debian, by `apt-get`. It checks the metrics we export and the files in
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

/** Runs promtool. Each method resolves with its output, and rejects with the output if anything is wrong. */
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

  /** Checks the format of an exposition, and the names and help texts of its metrics. */
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
