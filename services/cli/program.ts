import { Command } from 'commander';
import { TRAWL } from '../../shared/runtime/started-as.ts';
import { VERSION } from '../../shared/runtime/version.ts';
import type { CommandModule } from './command.ts';
import { print, say } from './text/output.ts';

/** The sub-commands: a file each, loaded only when it is asked for, so that every command starts at once. */
const COMMANDS: readonly (readonly [
  name: string,
  summary: string,
  load: () => Promise<{ readonly command: CommandModule }>,
])[] = [
  ['crawl', 'crawl in this one process, with no services', () => import('./commands/crawl.ts')],
  ['produce', 'offer seeds to the fleet', () => import('./commands/produce.ts')],
  ['work', 'run a worker of the fleet', () => import('./commands/work.ts')],
  ['status', 'show the progress of a run, or of all runs', () => import('./commands/status.ts')],
  ['records', 'print the records of a run', () => import('./commands/records.ts')],
  ['dlq', 'show, replay, export or delete dead letters', () => import('./commands/dlq.ts')],
  ['url', 'show what became of a URL, or why it waits', () => import('./commands/url.ts')],
  ['forget', 'forget that URLs were crawled, so that they are taken again', () => import('./commands/forget.ts')],
  ['pause', 'stop releasing a run, or asking a host, until it is resumed', () => import('./commands/pause.ts')],
  ['resume', 'resume a paused run or host', () => import('./commands/resume.ts')],
  ['cancel', 'end a run: its waiting URLs are dropped', () => import('./commands/cancel.ts')],
  ['seal', 'say that no more seeds will come to a run', () => import('./commands/seal.ts')],
  ['doctor', 'check settings, RabbitMQ and Redis, and say what to fix', () => import('./commands/doctor.ts')],
  ['demo', 'serve a small site and crawl it; needs no network', () => import('./commands/demo.ts')],
];

interface ProgramOptions {
  /** Is this sub-command to be loaded? The others have a name and a summary, and nothing to run. */
  readonly isWanted: (name: string) => boolean;
  /** Told the exit code of the command that ran. */
  readonly exit: (code: number) => void;
}

/** The command line. It throws where commander would end the process. */
export async function openProgram({ isWanted, exit }: ProgramOptions): Promise<Command> {
  const program = new Command('trawl')
    .description('A crawler fleet on RabbitMQ and Redis, or in one process with no services.')
    .version(VERSION)
    .configureOutput({ writeOut: (text) => print(linesOf(text)), writeErr: (text) => say(...linesOf(text)) })
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError(`(${TRAWL} --help lists the commands)`);
  for (const [name, summary, load] of COMMANDS) {
    const command = program.command(name).summary(summary).description(summary);
    if (isWanted(name)) (await load()).command.define(command, exit);
  }
  return program;
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}
