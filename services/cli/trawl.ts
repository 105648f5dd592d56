#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { Command } from 'commander';
import { VERSION } from '../../shared/version.ts';
import type { CommandModule } from './command.ts';
import { report } from './report.ts';

/** The sub-commands: a file each, loaded only when it is asked for, so that every command starts at once. */
const COMMANDS: readonly (readonly [
  name: string,
  summary: string,
  load: () => Promise<{ readonly command: CommandModule }>,
])[] = [
  ['crawl', 'crawl in this one process, with no services', () => import('./crawl.ts')],
  ['produce', 'offer seeds to the fleet', () => import('./produce.ts')],
  ['work', 'be a worker of the fleet', () => import('./work.ts')],
  ['status', 'show how far a run is, or all runs', () => import('./status.ts')],
  ['records', 'print the records of a run', () => import('./records.ts')],
  ['dlq', 'look at dead letters, replay, export or delete them', () => import('./dlq.ts')],
  ['url', 'tell what became of a URL, or why it waits', () => import('./url.ts')],
  ['forget', 'drop marks, so that URLs are taken again', () => import('./forget.ts')],
  ['pause', 'stop releasing a run, or asking a host, until it is resumed', () => import('./pause.ts')],
  ['resume', 'go on with a paused run or host', () => import('./resume.ts')],
  ['cancel', 'end a run: what waits is dropped', () => import('./cancel.ts')],
  ['seal', 'say that no more seeds will come to a run', () => import('./seal.ts')],
  ['doctor', 'check settings, RabbitMQ and Redis, and say what to mend', () => import('./doctor.ts')],
  ['demo', 'crawl a small site that it serves itself; needs no network', () => import('./demo.ts')],
];

/** Runs the command line and returns the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const program = new Command('trawl')
    .description('A crawler fleet on RabbitMQ and Redis, or in one process with no services.')
    .version(VERSION)
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('(trawl --help lists the commands)');
  let exitCode = 0;
  for (const [name, summary, load] of COMMANDS) {
    const command = program.command(name).summary(summary).description(summary).exitOverride();
    if (argv[2] !== name && !(argv[2] === 'help' && argv[3] === name)) continue;
    const { command: module } = await load();
    module.define(command, (code) => {
      exitCode = code;
    });
  }
  try {
    await program.parseAsync(argv as string[]);
    return exitCode;
  } catch (error: unknown) {
    return report(error);
  }
}

// Commands are loaded after this: their types are stripped, and their code compiled, once per version of a file.
enableCompileCache();
// A fleet fills its cores with processes. V8's helpers, woken some 30 times a second for a young heap of a few MB, take more
// of the other processes' time than they save of this one's: a tenth of a page's CPU.
setFlagsFromString('--no-parallel-scavenge');

// A reader that has seen enough (`trawl records … | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.exitCode = await main(process.argv);
