import type { LetterFilter } from '../../shared/control/letter-filter.ts';
import { runOptionsOf } from '../../shared/control/run-options.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';
import { localReplayJson, replayJson } from '../process/replay-json.ts';
import { routingRulesOf } from '../process/routing-rules.ts';
import { LocalReplayer } from '../producer/local-replayer.ts';
import { Replayer } from '../producer/replayer.ts';
import type { ApiParts } from './parts.ts';

interface ReplayRequest {
  readonly filter: LetterFilter;
  readonly limit: number;
  readonly isDry: boolean;
}

/** Offers dead letters again: as new runs with the options of their own, or of local crawls, to these. */
export async function replay(request: ReplayRequest, { link, settings }: ApiParts): Promise<object> {
  const rules = await routingRulesOf(settings);
  const { signal } = new AbortController();
  return await link.withStores(async (stores) => {
    const { frontier, runs, marks, letters: local, isBeingCrawled } = stores;
    if (local !== undefined) {
      const replayed = await new LocalReplayer({ letters: local, runs, rules, ...request, signal }).replay();
      const goOn = (run: string): string | undefined =>
        isBeingCrawled?.(run) === true ? undefined : `${TRAWL} crawl --resume ${run}`;
      return localReplayJson(replayed, request.isDry, goOn);
    }
    return await link.withLetters(async (letters) => {
      const parts = { letters, frontier, runs, marks, rules, clock: systemClock, ...request, signal };
      const defaults = runOptionsOf(settings, 'ever');
      return replayJson(await new Replayer({ ...parts, defaults, overrides: {} }).replay(), request.isDry);
    });
  });
}
