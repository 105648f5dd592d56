import type { LocalStores } from '../../../../shared/backends/embedded.ts';
import { count, counted } from '../../../../shared/control/format.ts';
import { RUN_OPTION_OF } from '../../../../shared/control/run-options.ts';
import { UsageError } from '../../../../shared/runtime/errors.ts';
import { TRAWL } from '../../../../shared/runtime/started-as.ts';
import { SETTINGS } from '../../../../shared/settings/table.ts';
import { localReplayJson } from '../../../process/replay-json.ts';
import { routingRulesOf } from '../../../process/routing-rules.ts';
import { type LocallyReplayed, type LocallyReplayedRun, LocalReplayer } from '../../../producer/local-replayer.ts';
import type { Context } from '../../command.ts';
import { EXIT_INTERRUPTED, Interrupts } from '../../process/interrupts.ts';
import { resumeRunCommand } from '../../process/place-flags.ts';
import { LETTERS_READ, talliedLetters } from '../../process/with-archives.ts';
import { tell } from '../../process/with-stores.ts';
import { say } from '../../text/output.ts';
import { ofOwners, replayedLines } from '../../text/replayed-lines.ts';
import { withTally } from '../../text/tally-line.ts';
import { type ReplayOptions, readFilter, readLimit } from './filter.ts';

/** `trawl dlq replay` for local crawls: puts their failed tasks back to waiting, in the same runs. */
export async function replayLocally(
  options: ReplayOptions,
  { letters, runs, isBeingCrawled }: LocalStores,
  context: Context,
): Promise<number> {
  refuseRunOptions(options);
  const isDry = options.dryRun === true;
  const [filter, limit] = [readFilter(options), readLimit(options)];
  const rules = await routingRulesOf(context.settings);
  const interrupts = new Interrupts();
  try {
    const { signal } = interrupts;
    const replay = letters.replay.bind(letters);
    const replayed = await withTally({ ...context, signal }, { what: LETTERS_READ }, (tally) => {
      const tallied = { ...talliedLetters(letters, tally), replay };
      return new LocalReplayer({ letters: tallied, runs, rules, filter, limit, isDry, signal }).replay();
    });
    const goOn = (run: string): string | undefined =>
      isBeingCrawled(run) ? undefined : resumeRunCommand(run, context);
    tellReplayed(replayed, isDry, goOn, context);
  } finally {
    interrupts.close();
  }
  if (interrupts.by === undefined) return 0;
  say('Interrupted: the letters not offered yet are still there. Run the same command again.');
  return EXIT_INTERRUPTED;
}

/** Rejects flags for run options: a local run is resumed and keeps its own. */
function refuseRunOptions(options: ReplayOptions): void {
  const given = Object.keys(RUN_OPTION_OF).filter((key) => options[key] !== undefined);
  if (given.length === 0) return;
  const flags = given.map((key) => `--${SETTINGS[key as keyof typeof RUN_OPTION_OF].flag}`);
  throw new UsageError(
    `letters of a local crawl are replayed with the options it was begun with: leave out ${flags.join(', ')}`,
  );
}

function tellReplayed(
  replayed: LocallyReplayed,
  dryRun: boolean,
  goOn: (run: string) => string | undefined,
  context: Context,
): void {
  const told = replayed.runs
    .filter(({ letters }) => letters > 0)
    .map((run) => ({ ...run, resume: dryRun || run.accepted === 0 ? undefined : goOn(run.run) }));
  const runs = told.flatMap((run) => runLines(run, dryRun));
  const lines = replayedLines(runs, replayed, `${TRAWL} dlq list --local`, dryRun);
  tell(context, localReplayJson(replayed, dryRun, goOn), lines);
}

function runLines(
  {
    run,
    letters,
    ofGroups,
    accepted,
    known,
    inFlight,
    refused,
    resume,
  }: LocallyReplayedRun & { readonly resume: string | undefined },
  dryRun: boolean,
): string[] {
  if (refused !== undefined) {
    const why = refused === 'cancelled' ? 'was cancelled' : 'is no longer known here';
    return [
      `Run ${run} ${why}: ${counted(letters, 'letter')} left in place. Crawl their URLs in a new run: ${TRAWL} dlq export --local --run ${run}`,
    ];
  }
  const owners = ofOwners(ofGroups, dryRun);
  if (dryRun) return [`${counted(letters, 'letter')} of run ${run} would be replayed in that run`, ...owners];
  const lines = [
    `Run ${run}: ${counted(letters, 'letter')} replayed: ${count(accepted)} wait again, ${count(known)} known already`,
    ...owners,
  ];
  if (inFlight > 0) lines.push(`  ${count(inFlight)} are being crawled right now: their letters stay`);
  if (resume !== undefined) lines.push(`  No process is crawling it. Resume it with: ${resume}`);
  else if (accepted > 0) lines.push(`  The running crawl picks them up. Progress: ${TRAWL} status ${run} --watch`);
  return lines;
}
