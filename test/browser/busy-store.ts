import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Offer } from '../../shared/ports/frontier/frontier.ts';
import { nameOf } from '../../shared/ports/frontier/frontier.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { FileLock } from '../../shared/stores/sqlite/database/lock.ts';
import { beginRun } from '../../shared/stores/sqlite/local-runs.ts';
import { SteadyClock } from '../../shared/stores/sqlite/steady-clock.ts';
import { partsOf } from '../../shared/task/parts.ts';
import { FAST_RUN } from '../support/builders.ts';
import { Workplace } from '../support/processes/trawl.ts';
import { offerOf } from '../support/stores/embedded.ts';
import { letterOf } from '../support/stores/letters.ts';
import { openLocalParts } from '../support/stores/local-parts.ts';
import { offerAll } from '../support/stores/offer-all.ts';

/** A text that would do harm or spoil the page if it were not shown as plain text. */
const HOSTILE =
  '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>\u202e"\'&amp;{{7*7}}\u001b[31m עברית';
/** The same text, with 5 000 characters without a place for a line break. */
export const LONG_HOSTILE = `${HOSTILE}${'unbreakable'.repeat(455)}`;
/** The longest possible host name. */
export const LONG_HOST = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.example`;
/** The longest possible run id. */
const LONG_RUN = 'r'.repeat(63);
export const HOSTILE_URL = `https://hostile.example/?q=${encodeURIComponent(HOSTILE)}&${'long'.repeat(60)}`;
/** The runs of the busy store, newest last. */
const RUNS = Array.from({ length: 20 }, (_, i) => `run-${String(i + 1).padStart(2, '0')}`);
const DATABASE = 'trawl.sqlite';
const HOSTS_OF_EACH = 250;
const MANY_LETTERS = 250;
const DAY_LETTERS = 240;
const KEPT_AT_ONCE = 500;
const BOUNDS = ['slots', 'politeness', 'cpu', 'memory', 'network'] as const;

/** The locks of its runs, as if this process crawled them: a lock that nothing refers to is released. */
const HELD: FileLock[] = [];

/** A folder with a busy store, for all tests of a file. The caller that opens it closes it. */
export async function openBusyWorkplace({ isHostile = false, letters = MANY_LETTERS } = {}): Promise<Workplace> {
  const workplace = new Workplace(await mkdtemp(join(tmpdir(), 'trawl-busy-')), {});
  await fillBusyStore(workplace.folder, isHostile ? LONG_HOSTILE : 'looks odd', letters);
  return workplace;
}

/** Of every tenth task. */
const FAILURES = ['timeout', 'connection', 'http_5xx'] as const;

/** Fills a local store with 20 runs, 5 000 hosts, letters, workers and foreign texts, so that the API's answers are real. */
async function fillBusyStore(folder: string, reason: string, letterCount: number): Promise<void> {
  const { store, database, frontier, gate, runs, letters } = openLocalParts({
    clock: new SteadyClock(systemClock),
    path: join(folder, DATABASE),
    policy: {},
  });
  const owned: { close(): Promise<void> }[] = [];
  for (const [index, run] of RUNS.entries()) {
    const begin = { run, options: FAST_RUN, crawler: 'page', seeds: [], flags: {} };
    owned.push(await beginRun(begin, { store, folder, syncRecords: async () => {} }));
    await runs.open(run, { ...FAST_RUN, intervalMs: 1_000 }, 'p');
    const offers = Array.from({ length: HOSTS_OF_EACH }, (_, host): Offer[] => {
      const site = `https://site-${index * HOSTS_OF_EACH + host}.example`;
      return [offerOf(`${site}/`), offerOf(`${site}/about`)];
    }).flat();
    await offerAll(frontier, run, offers);
    if (index % 2 === 0) await runs.seal(run, 'p');
  }
  const { tasks } = await frontier.release({ limit: 500, window: 100_000, unpaced: true });
  for (const [index, released] of tasks.entries()) {
    const { run } = released.task;
    const name = nameOf(released);
    await frontier.admit(run, name, `crawler-${index % 5}`);
    const failed = FAILURES[(index / 10) % FAILURES.length];
    if (failed !== undefined) await frontier.settle(run, name, { outcome: { kind: 'failed', reason: failed } });
    else if (index % 7 === 0) await frontier.settle(run, name, { outcome: { kind: 'skipped', reason: 'robots' } });
    else if (index % 3 !== 0) await frontier.settle(run, name, { outcome: { kind: 'done' }, bytes: 12_345 });
  }
  await runs.pause('run-03', reason);
  await runs.cancel('run-04');
  while ((await frontier.drain()) > 0);
  await gate.pauseByHand('site-7.example', reason);
  await gate.pauseByHand('site-8.example', 'maintenance');
  if (reason === LONG_HOSTILE) await gate.pauseByHand(LONG_HOST, reason);
  const now = Date.now();
  const kept = Array.from({ length: letterCount }, (_, i) => {
    const reason = i % 3 === 0 ? 'http_5xx' : 'timeout';
    const at = now - (i % DAY_LETTERS) * 350_000;
    return letterOf(`https://site-${i}.example/missing`, { run: 'run-01', reason, at });
  });
  for (const some of partsOf(kept, KEPT_AT_ONCE)) await letters.keep(some);
  const hostile = letterOf(HOSTILE_URL, { run: LONG_RUN, reason: 'http_4xx', at: now });
  const body = JSON.parse(String(hostile.body));
  await letters.keep([{ ...hostile, body: JSON.stringify({ ...body, error: LONG_HOSTILE }) }]);
  for (const each of owned) await each.close();
  database.close();
  for (const run of RUNS) {
    const lock = FileLock.take(join(folder, run, 'crawl.lock'));
    if (lock === undefined) throw new Error(`${run} is taken`);
    HELD.push(lock);
  }
}

/** Says that five workers are alive, for as long as one beat counts. */
export async function beatWorkers(folder: string): Promise<void> {
  const { database, roster } = openLocalParts({ clock: new SteadyClock(systemClock), path: join(folder, DATABASE) });
  for (const [index, bound] of BOUNDS.entries()) {
    const state = index === 4 ? 'stopping' : 'consuming';
    await roster.beat({
      id: `crawler-${index}`,
      host: 'crawler',
      version: '0.1.0',
      slots: 64,
      bound,
      inHand: 13 * index,
      state,
    });
  }
  database.close();
}
