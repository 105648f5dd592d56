#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { tuneGarbageCollection } from '../../shared/runtime/engine/garbage-collection.ts';
import { upToUnknown } from './help/help.ts';
import { LEFT_OVER_MS } from './process/interrupts.ts';
import { report } from './process/report.ts';
import { openProgram } from './program.ts';
import { finishOutput, watchOutput } from './text/output.ts';

/** Runs the command line and returns the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const [, , first, second] = argv;
  let exitCode = 0;
  const program = await openProgram({
    showsAll: argv.includes('--all'),
    isWanted: (name) => name === first || (first === 'help' && name === second),
    exit: (code) => {
      exitCode = code;
    },
  });
  try {
    await program.parseAsync(upToUnknown(argv, program) as string[]);
    return exitCode;
  } catch (error: unknown) {
    return report(error);
  }
}

// Commands are loaded after this: their types are stripped, and their code compiled, once per version of a file.
enableCompileCache();
tuneGarbageCollection();
watchOutput();
process.exitCode = await finishOutput(await main(process.argv));
// A timer left behind by a crawler, say, doesn't keep the process alive.
setTimeout(() => process.exit(), LEFT_OVER_MS).unref();
