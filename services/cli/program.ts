import { Command } from 'commander';
import type { SteerVerb } from '../../shared/control/steering/steering-outcome.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';
import { VERSION } from '../../shared/runtime/version.ts';
import type { CommandModule } from './command.ts';
import { exampleLines } from './help/examples.ts';
import { addHelpTexts, improved } from './help/help.ts';
import { print, say } from './text/output.ts';

/**
 * The sub-commands. A command's file is loaded only when the command is given, so that every command starts fast. The four steering
 * commands share a file.
 */
const COMMANDS: readonly (readonly [
  name: string,
  group: string,
  summary: string,
  load: () => Promise<{ readonly command: CommandModule }>,
])[] = [
  ['crawl', 'One process:', 'crawl in this one process, with no services', () => import('./commands/crawl.ts')],
  ['try', 'One process:', 'show what a crawler makes of one page', () => import('./commands/try.ts')],
  ['map', 'One process:', "list a site's URLs without crawling it", () => import('./commands/map.ts')],
  ['demo', 'One process:', 'serve a small site and crawl it', () => import('./commands/demo.ts')],
  ['produce', 'A fleet:', 'offer seeds to the fleet', () => import('./commands/produce.ts')],
  ['work', 'A fleet:', 'run a worker of the fleet', () => import('./commands/work.ts')],
  ['status', 'Runs:', 'show the progress of a run, or of all runs', () => import('./commands/status.ts')],
  ['records', 'Runs:', 'print the records of a run', () => import('./commands/records.ts')],
  ['pause', 'Runs:', 'pause a run or a host until it is resumed', () => steering('pause')],
  ['resume', 'Runs:', 'resume a paused run or host', () => steering('resume')],
  ['cancel', 'Runs:', 'end a run: its waiting URLs are dropped', () => steering('cancel')],
  ['seal', 'Runs:', 'declare that no more seeds will come to a run', () => steering('seal')],
  ['limit', 'Runs:', 'limit the rate of requests to a host', () => import('./commands/limit.ts')],
  ['dlq', 'Pages:', 'show, replay, export or delete dead letters', () => import('./commands/dlq/dlq.ts')],
  ['url', 'Pages:', 'show what became of a URL, or why it waits', () => import('./commands/url.ts')],
  [
    'forget',
    'Pages:',
    'forget that URLs were crawled, so that they can be crawled again',
    () => import('./commands/forget.ts'),
  ],
  ['workers', 'A fleet:', 'list the workers that are alive', () => import('./commands/workers.ts')],
  ['api', 'A fleet:', 'serve the HTTP API and a dashboard', () => import('./commands/api.ts')],
  ['init', 'This machine:', 'create a folder with a crawler and its test', () => import('./commands/init.ts')],
  [
    'crawlers',
    'This machine:',
    'list the available crawlers, or show the graph of one',
    () => import('./commands/crawlers.ts'),
  ],
  [
    'doctor',
    'This machine:',
    'check settings, RabbitMQ and Redis, and say what to fix',
    () => import('./commands/doctor.ts'),
  ],
];

async function steering(verb: SteerVerb): Promise<{ readonly command: CommandModule }> {
  return { command: (await import('./commands/steering.ts')).steeringCommand(verb) };
}

interface ProgramOptions {
  /** Is this sub-command to be loaded? The others get only a name and a summary. */
  readonly isWanted: (name: string) => boolean;
  /** Called with the exit code of the command that ran. */
  readonly exit: (code: number) => void;
  /** Does `--help` show every flag? */
  readonly showsAll?: boolean;
}

/** Builds the command line. It throws where commander would end the process. */
export async function openProgram({ isWanted, exit, showsAll = false }: ProgramOptions): Promise<Command> {
  const program = new Command('trawl')
    .description('A crawler fleet on RabbitMQ and Redis, or in one process with no services.')
    .version(VERSION)
    .configureOutput({
      writeOut: (text) => print(linesOf(text)),
      writeErr: (text) => say(...linesOf(text)),
      outputError: (text, write) => write(improved(text, [])),
    })
    .exitOverride()
    .showSuggestionAfterError()
    .addHelpText('after', exampleLines('trawl').join('\n'))
    .showHelpAfterError(`(${TRAWL} --help lists the commands)`);
  for (const [name, group, summary, load] of COMMANDS) {
    const command = program.command(name).helpGroup(group).summary(summary).description(summary);
    if (isWanted(name)) (await load()).command.define(command, exit);
    addHelpTexts(command, showsAll);
  }
  return program;
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n');
}
