import { tuneGarbageCollection } from '../../shared/runtime/engine/garbage-collection.ts';
import { exitNow } from '../../shared/runtime/process-exit.ts';
import { asHelpFlag, upToUnknown } from './help/help.ts';
import { refuseFlagsAsValues } from './help/missing-values.ts';
import { LEFT_OVER_MS, outliveTerminal } from './process/interrupts.ts';
import { report } from './process/report.ts';
import { openProgram } from './program.ts';
import { finishOutput, watchOutput } from './text/output.ts';

/** Runs the command line and sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  tuneGarbageCollection();
  watchOutput();
  outliveTerminal();
  process.exitCode = await finishOutput(await exitCodeOf(argv));
  // A leftover timer, of a crawler say, must not keep the process alive.
  setTimeout(() => exitNow(), LEFT_OVER_MS).unref();
}

async function exitCodeOf(given: readonly string[]): Promise<number> {
  const argv = asHelpFlag(given);
  let exitCode = 0;
  const program = await openProgram({
    showsAll: argv.includes('--all'),
    isWanted: (name) => name === argv[2],
    exit: (code) => {
      exitCode = code;
    },
  });
  try {
    const known = upToUnknown(argv, program);
    refuseFlagsAsValues(known, program);
    await program.parseAsync(known as string[]);
    return exitCode;
  } catch (error: unknown) {
    return report(error);
  }
}
