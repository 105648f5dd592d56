import type { LetterFilter } from '../../shared/control/letters/letter-filter.ts';
import { runOptionsOf } from '../../shared/control/run-options.ts';
import type { LocalLetters } from '../../shared/ports/local-letters.ts';
import type { DeadLetters } from '../../shared/ports/transport.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { TRAWL } from '../../shared/runtime/started-as.ts';
import { localReplayJson, replayJson } from '../process/replay-json.ts';
import { routingRulesOf } from '../process/routing-rules.ts';
import { LocalReplayer } from '../producer/local-replayer.ts';
import { Replayer } from '../producer/replayer.ts';
import type { LinkedStores } from './link.ts';
import type { ApiParts } from './parts.ts';

interface ReplayRequest {
  readonly filter: LetterFilter;
  readonly limit: number;
  readonly isDry: boolean;
}

/**
 * Offers dead letters again. In a fleet they go to new runs with the options of the old ones, in local crawls back to their own runs.
 *
 * @param begins called once everything needed is connected, before anything is changed
 */
export async function replay(
  request: ReplayRequest,
  { link, settings }: ApiParts,
  begins: () => Promise<void>,
): Promise<object> {
  const rules = await routingRulesOf(settings);
  const { signal } = new AbortController();
  const ofFleet = async (letters: DeadLetters, { frontier, runs, marks }: LinkedStores): Promise<object> => {
    await begins();
    const parts = { letters, frontier, runs, marks, rules, clock: systemClock, ...request, signal };
    const defaults = runOptionsOf(settings, 'ever');
    return replayJson(await new Replayer({ ...parts, defaults, overrides: {} }).replay(), request.isDry);
  };
  const ofMachine = async (letters: LocalLetters, { runs, isBeingCrawled }: LinkedStores): Promise<object> => {
    await begins();
    const replayed = await new LocalReplayer({ letters, runs, rules, ...request, signal }).replay();
    const goOn = (run: string): string | undefined =>
      isBeingCrawled?.(run) === true ? undefined : `${TRAWL} crawl --resume ${run}`;
    return localReplayJson(replayed, request.isDry, goOn);
  };
  const how = { takesLong: true };
  return await link.withStores(async (stores) => {
    if (stores.letters !== undefined) return await ofMachine(stores.letters, stores);
    return await link.withLetters((letters) => ofFleet(letters, stores), how);
  }, how);
}
