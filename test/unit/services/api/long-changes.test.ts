import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Tokens } from '../../../../services/api/access/tokens.ts';
import { openApp } from '../../../../services/api/app.ts';
import type { AuditEntry } from '../../../../services/api/audit.ts';
import type { LinkedStores } from '../../../../services/api/link.ts';
import type { ApiParts } from '../../../../services/api/parts.ts';
import { whileThere } from '../../../../services/api/while-there.ts';
import type { DeadLetters } from '../../../../shared/ports/transport.ts';
import { UnavailableError } from '../../../../shared/runtime/errors.ts';
import { silentLog } from '../../../../shared/runtime/logger.ts';
import { settingsFrom } from '../../../../shared/settings/settings.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { letterOf } from '../../../support/stores/letters.ts';
import { openLocalParts } from '../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';
import { withMethods } from '../../../support/with-methods.ts';

/** An API over a store whose changes don't end before a test says so, or says that the store has gone. */
async function setup() {
  const clock = new SteppedClock();
  const { database, letters, marks, frontier, ...others } = openLocalParts({ clock });
  onTestFinished(() => database.close());
  await others.runs.open('r1', FAST_RUN, 'p');
  await letters.keep([letterOf('http://a.test/1', { at: clock.now() })]);
  const going = Promise.withResolvers<void>();
  const stores = {
    ...others,
    letters: withMethods(letters, {
      sift: async (...given) => {
        await going.promise;
        await letters.sift(...given);
      },
    }),
    marks: withMethods(marks, {
      forget: async (...given) => {
        await going.promise;
        return await marks.forget(...given);
      },
    }),
    frontier: withMethods(frontier, {
      drain: async () => {
        await going.promise;
        return await frontier.drain();
      },
    }),
  };
  const limited: string[] = [];
  const linked =
    <T>(what: T) =>
    (action: (what: T) => Promise<unknown>, { takesLong = false } = {}) => {
      if (!takesLong) limited.push(action.toString());
      return action(what);
    };
  const entries: AuditEntry[] = [];
  const forget = (): void => {};
  const app = await openApp({
    settings: settingsFrom({ flag: {}, environment: {}, file: {} }),
    log: silentLog,
    clock,
    tokens: Tokens.read([], ''),
    link: {
      withStores: linked(stores as unknown as LinkedStores),
      withLetters: linked(stores.letters as DeadLetters),
    },
    snapshots: { forget },
    letters: { forget },
    hosts: { forget },
    audit: { note: async (entry: AuditEntry) => void entries.push(entry) },
    metrics: { served: () => {} },
  } as unknown as ApiParts);
  onTestFinished(() => app.close());
  const change = (url: string, body: object) =>
    app.inject({ method: 'POST', url, body, headers: { host: 'localhost' } });
  return { change, entries, going, limited };
}

const CHANGES = [
  ['/api/dlq/replay', { run: 'r1', limit: 5 }, { action: 'replay letters', target: 'run r1, limit 5', reason: null }],
  ['/api/dlq/purge', { all: true, limit: 5 }, { action: 'delete letters', target: 'all, limit 5', reason: null }],
  ['/api/forget', { host: 'a.test', reason: 'moved' }, { action: 'forget', target: 'a.test', reason: 'moved' }],
  ['/api/runs/r1/cancel', { reason: 'enough' }, { action: 'cancel run', target: 'r1', reason: 'enough' }],
] as const;

test.each(CHANGES)('%s is in the audit before it begins, once, and may take as long as it needs', async (...given) => {
  const [url, body, entry] = given;
  const { change, entries, going, limited } = await setup();
  const changing = change(url, body);
  await vi.waitUntil(() => entries.length > 0);
  going.resolve();
  expect((await changing).statusCode).toBe(200);
  expect(entries).toMatchObject([{ by: 'local', ...entry }]);
  expect(limited).toEqual([]);
});

test.each(CHANGES)(
  '%s is in the audit even if the store goes away in the middle of it, and so is its failure',
  async (url, body, entry) => {
    const { change, entries, going } = await setup();
    const changing = change(url, body);
    await vi.waitUntil(() => entries.length > 0);
    going.reject(new UnavailableError('Redis went away'));
    expect((await changing).statusCode).toBe(503);
    expect(entries).toMatchObject([entry, { ...entry, action: `${entry.action}: failed (503)` }]);
  },
);

test('what only counts is in no audit, and neither is what was refused', async () => {
  const { change, entries, going } = await setup();
  going.resolve();
  expect((await change('/api/dlq/replay', { all: true, dryRun: true })).statusCode).toBe(200);
  expect((await change('/api/dlq/purge', { all: true, dryRun: true })).statusCode).toBe(200);
  expect((await change('/api/forget', { all: true, dryRun: true })).statusCode).toBe(200);
  expect((await change('/api/dlq/purge', {})).statusCode).toBe(400);
  expect((await change('/api/runs/nix/cancel', {})).statusCode).toBe(404);
  expect(entries).toEqual([]);
});

test('an answer is waited for as long as it may take, and no longer than its service is there', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = Promise.withResolvers<string>();
  const lost = new AbortController();
  const about = { service: 'Redis', lost: lost.signal };
  const late = expect(whileThere(answer.promise, { ...about, withinMs: 20_000 })).rejects.toThrow('in time');
  const cut = expect(whileThere(answer.promise, { ...about, withinMs: undefined })).rejects.toThrow('Redis went away');
  const patient = whileThere(answer.promise, {
    service: 'Redis',
    lost: new AbortController().signal,
    withinMs: undefined,
  });
  const silent = new AbortController();
  const unheard = expect(
    whileThere(answer.promise, { ...about, silent: silent.signal, withinMs: undefined }),
  ).rejects.toThrow('Redis does not answer');
  silent.abort();
  await unheard;
  vi.advanceTimersByTime(3_600_000);
  await late;
  lost.abort();
  await cut;
  await setImmediate();
  answer.resolve('there');
  expect(await patient).toBe('there');
});
