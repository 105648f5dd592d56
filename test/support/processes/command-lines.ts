import type { Command } from 'commander';
import { openProgram } from '../../../services/cli/program.ts';

/** A command line that works, and what the command does then. */
export interface CommandLine {
  readonly args: readonly string[];
  readonly connects: readonly Service[];
  /** It only reads: it declares nothing on the broker and writes no key. */
  readonly onlyAsks?: true;
  /** It prints nothing on standard output. */
  readonly isSilent?: true;
}

type Service = 'Redis' | 'RabbitMQ';

/** The names to use: a page to crawl, a dead letter's URL, and a run. */
interface Names {
  readonly page: string;
  readonly letter: string;
  readonly run: string;
}

/** A command line for each command, in an order in which they can be run in sequence. */
export function commandLines({ page, letter, run }: Names): Readonly<Record<string, CommandLine>> {
  const [redis, both] = [['Redis'], ['Redis', 'RabbitMQ']] as const;
  const local = ['--private-hosts', '127.0.0.0/8', '--rate', 'none'];
  // The crawl above has the same id.
  const ofFleet = [run, '--no-local'];
  return {
    crawl: { args: ['crawl', page, '--run', run, ...local], connects: [] },
    try: { args: ['try', page, ...local], connects: [], onlyAsks: true },
    map: { args: ['map', page, ...local], connects: [], onlyAsks: true },
    demo: { args: ['demo', '--rate', 'none'], connects: [] },
    init: { args: ['init', `${run}-folder`], connects: [] },
    records: { args: ['records', run], connects: [], onlyAsks: true },
    produce: { args: ['produce', page, '--run', run, ...local], connects: both },
    status: { args: ['status'], connects: redis, onlyAsks: true },
    url: { args: ['url', page], connects: both, onlyAsks: true },
    'crawlers list': { args: ['crawlers'], connects: [], onlyAsks: true },
    'crawlers graph': { args: ['crawlers', 'graph', 'page'], connects: [], onlyAsks: true },
    doctor: { args: ['doctor'], connects: both, onlyAsks: true },
    'dlq list': { args: ['dlq', 'list'], connects: ['RabbitMQ'], onlyAsks: true },
    'dlq show': { args: ['dlq', 'show', letter], connects: ['RabbitMQ'], onlyAsks: true },
    'dlq export': { args: ['dlq', 'export'], connects: ['RabbitMQ'], onlyAsks: true },
    'dlq replay': { args: ['dlq', 'replay', '--dry-run'], connects: both, onlyAsks: true },
    'dlq purge': { args: ['dlq', 'purge', '--all', '--dry-run'], connects: ['RabbitMQ'], onlyAsks: true },
    forget: { args: ['forget', letter], connects: redis },
    limit: { args: ['limit', 'a.test', 'none'], connects: redis },
    workers: { args: ['workers'], connects: redis, onlyAsks: true },
    pause: { args: ['pause', ...ofFleet], connects: redis },
    resume: { args: ['resume', ...ofFleet], connects: redis },
    seal: { args: ['seal', ...ofFleet], connects: redis },
    cancel: { args: ['cancel', ...ofFleet], connects: redis },
    work: { args: ['work', '--exit-when-idle', ...local], connects: both, isSilent: true },
  };
}

/** Runs every command: first the changing ones, in their order, then all that only read, at once. */
export async function eachLine(
  lines: ReturnType<typeof commandLines>,
  run: (name: string, line: CommandLine) => Promise<void>,
): Promise<void> {
  const all = Object.entries(lines);
  for (const [name, line] of all) if (line.onlyAsks !== true) await run(name, line);
  await Promise.all(all.map(([name, line]) => (line.onlyAsks === true ? run(name, line) : undefined)));
}

/** The names of all commands, taken from the program itself, except `api`, which runs until it is stopped. */
export async function everyCommand(): Promise<string[]> {
  const program = await openProgram({ isWanted: () => true, exit: () => {} });
  return program.commands.flatMap((command) => leavesOf(command, command.name())).filter((name) => name !== 'api');
}

function leavesOf(command: Command, path: string): string[] {
  if (command.commands.length === 0) return [path];
  return command.commands.flatMap((each) => leavesOf(each, `${path} ${each.name()}`));
}
