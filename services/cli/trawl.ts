#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { report } from './process/report.ts';
import { openProgram } from './program.ts';
import { finishOutput, watchOutput } from './text/output.ts';

/** How long what is left over may keep a process that has done its work. */
const LEFT_OVER_MS = 1_000;

/** Runs the command line and returns the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const [, , first, second] = argv;
  let exitCode = 0;
  const program = await openProgram({
    isWanted: (name) => name === first || (first === 'help' && name === second),
    exit: (code) => {
      exitCode = code;
    },
  });
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
// What belongs to a page goes with it. V8 now and then takes some of it for long-lived, which puts all that is reached from there
// where only a full collection finds it: twice the time in the young heap, by chance, for as long as the process lives.
setFlagsFromString('--no-allocation-site-pretenuring');

watchOutput();
process.exitCode = await finishOutput(await main(process.argv));
// A timer that a crawler left behind, say, keeps no process.
setTimeout(() => process.exit(), LEFT_OVER_MS).unref();
