import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Offer } from '../../../../../shared/ports/frontier.ts';
import { journalPath } from '../../../../../shared/stores/journal/folder.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { type JournaledStore, openJournaledStore } from '../../../../support/journaled-store.ts';
import { SteppedClock } from '../../../../support/stepped-clock.ts';

const EVERYTHING = { limit: 200, window: 1_000, unpaced: false };

function page(path: string, extra: Partial<Offer> = {}): Offer {
  const url = `http://a.test/${path}`;
  return { url, mark: url, host: 'a.test', step: '', depth: 0, queue: 'normal', ...extra } as Offer;
}

async function setup() {
  const clock = new SteppedClock();
  const store = await openJournaledStore({ clock });
  onTestFinished(() => store.close());
  await store.runs.open('r', FAST_RUN, 'p');
  return { ...store, clock, path: journalPath(store.folder, 'r') };
}

/** Ends a store as a crash would, and opens what it leaves. */
async function reopened({ folder, journals }: JournaledStore, clock: SteppedClock): Promise<JournaledStore> {
  for (const journal of journals.values()) await journal.close();
  return await openJournaledStore({ folder, clock, resume: ['r'] });
}

test('what ended has ended, with its reasons and bytes; the rest waits, with what was known of it', async () => {
  const store = await setup();
  const { frontier, runs, clock } = store;
  await frontier.offer('r', [
    page('done'),
    page('failed'),
    page('skipped'),
    page('not-modified'),
    page('tried'),
    page('throttled'),
    page('in-flight', { depth: 2, queue: 'priority' }),
    page('late', { deadlineMs: 500_000 }),
    { malformed: `no\turl ${'\ud800'}`, problem: 'it has "no" scheme' },
  ]);
  const { tasks } = await frontier.release(EVERYTHING);
  const releaseOf = (path: string): number => tasks.find(({ task }) => task.url.endsWith(`/${path}`))?.release ?? 0;
  await frontier.settle('r', releaseOf('done'), { outcome: { kind: 'done' }, bytes: 100 });
  await frontier.settle('r', releaseOf('failed'), { outcome: { kind: 'failed', reason: 'http_4xx' } });
  await frontier.settle('r', releaseOf('skipped'), { outcome: { kind: 'skipped', reason: 'size' }, bytes: 7 });
  const visited = { contentHash: 'h', bytes: 50, readAs: 'page', askedMsAgo: 0, bytesSaved: 50 };
  const notModified = { kind: 'skipped', reason: 'not_modified' } as const;
  await frontier.settle('r', releaseOf('not-modified'), { outcome: notModified, page: visited });
  await frontier.settle('r', releaseOf('tried'), { outcome: { kind: 'retry', reason: 'timeout', inMs: 5_000 } });
  const host = { pauseMs: 1_000, reason: '429' };
  await frontier.settle('r', releaseOf('throttled'), { outcome: { kind: 'defer', host } });
  await runs.seal('r', 'p');
  const before = await runs.progress('r');
  const again = await reopened(store, clock);
  const after = await again.runs.progress('r');
  expect(after).toEqual({
    ...before,
    incarnation: expect.any(String),
    waiting: 5,
    inFlight: 0,
    startedAt: after?.startedAt,
  });
  const early = await again.frontier.release(EVERYTHING);
  expect(early.tasks.map(({ task, state, verdict }) => [task.url, task.depth, state.throttles, verdict])).toEqual([
    [`no url ${'\ud800'}`, 0, 0, 'malformed'],
    ['http://a.test/in-flight', 2, 0, 'go'],
    ['http://a.test/throttled', 0, 1, 'go'],
    ['http://a.test/late', 0, 0, 'go'],
  ]);
  expect(early.tasks[0]?.problem).toBe('it has "no" scheme');
  clock.step(5_000);
  expect((await again.frontier.release(EVERYTHING)).tasks).toMatchObject([{ state: { attempts: 1 } }]);
  clock.step(500_000);
  expect(await again.frontier.admit('r', early.tasks[3]?.release ?? 0, 'w')).toMatchObject({ verdict: 'deadline' });
  expect((await again.frontier.offer('r', [page('failed'), page('done')])) as object).toMatchObject({ accepted: 0 });
});

test('a step, a mark, a host and a folder that are not what the URL says come back', async () => {
  const store = await setup();
  const task = {
    url: 'http://u:p@a.test/%7eb?c',
    mark: 'detail http://a.test/~b?c',
    host: 'www.a.test',
    step: 'detail',
    within: 'www.a.test/',
  };
  const inFolder = page('y', { within: 'a.test/' } as never);
  await store.frontier.offer('r', [page('', task), page('x', { url: 'http://u:p@a.test/x' } as never), inFolder]);
  const again = await reopened(store, store.clock);
  const { tasks } = await again.frontier.release(EVERYTHING);
  expect(tasks.map((released) => released.task)).toMatchObject([
    { url: 'http://u:p@a.test/x', host: 'a.test' },
    { url: 'http://a.test/y', step: '', within: 'a.test/' },
    task,
  ]);
});

test('where redirects led a page stays taken, by that page alone; one that failed has let go of it', async () => {
  const store = await setup();
  await store.frontier.offer('r', [page('done'), page('failed'), page('in-flight'), page('late')]);
  const { tasks } = await store.frontier.release(EVERYTHING);
  const releaseOf = (path: string, of = tasks): number =>
    of.find(({ task }) => task.url.endsWith(`/${path}`))?.release ?? 0;
  for (const path of ['done', 'failed', 'in-flight']) {
    for (const place of ['first', 'then'])
      await store.frontier.claim('r', releaseOf(path), `http://a.test/${place}-${path}`);
  }
  await store.frontier.settle('r', releaseOf('done'), { outcome: { kind: 'done' } });
  await store.frontier.settle('r', releaseOf('failed'), { outcome: { kind: 'failed', reason: 'http_4xx' } });
  const again = await reopened(store, store.clock);
  const released = (await again.frontier.release(EVERYTHING)).tasks;
  const claim = (by: string, path: string): Promise<string> =>
    again.frontier.claim('r', releaseOf(by, released), `http://a.test/${path}`);
  expect(await claim('late', 'then-done')).toBe('taken');
  expect(await claim('late', 'then-in-flight')).toBe('taken');
  expect(await claim('in-flight', 'then-in-flight')).toBe('claimed');
  expect(await claim('late', 'first-done'), 'let go of for another').toBe('claimed');
  expect(await claim('late', 'then-failed')).toBe('claimed');
});

test('release numbers are higher than in any session before', async () => {
  const store = await setup();
  await store.frontier.offer('r', [page('1')]);
  const [first] = (await store.port.release(EVERYTHING)).tasks;
  const again = await reopened(store, store.clock);
  const [second] = (await again.port.release(EVERYTHING)).tasks;
  expect(second?.release).toBeGreaterThan((first?.release ?? 0) + 1_000_000);
});

test('seeds that are read again, and pages fetched again, count no duplicates for what they gave before', async () => {
  const store = await setup();
  const { frontier, clock } = store;
  await frontier.offer('r', [page('1'), page('2'), page('1')]);
  await frontier.release({ ...EVERYTHING, limit: 1 });
  await frontier.offer('r', [page('3'), page('2')], { parent: 1 });
  expect(await store.runs.progress('r')).toMatchObject({ discovered: 3, duplicate: 2 });
  const again = await reopened(store, clock);
  expect(await again.runs.progress('r')).toMatchObject({ discovered: 3, duplicate: 0 });
  await again.runs.open('r', FAST_RUN, 'p2');
  await again.frontier.offer('r', [page('1'), page('2'), page('1'), page('4')]);
  const [first] = (await again.frontier.release({ ...EVERYTHING, limit: 1 })).tasks;
  await again.frontier.offer('r', [page('3'), page('2')], { parent: first?.release ?? 0 });
  await again.frontier.settle('r', first?.release ?? 0, { outcome: { kind: 'done' } });
  await again.runs.seal('r', 'p2');
  expect(await again.runs.progress('r')).toMatchObject({ discovered: 4, duplicate: 2, done: 1 });
  const third = await reopened(again, clock);
  expect(await third.runs.progress('r'), 'and are kept').toMatchObject({ discovered: 4, duplicate: 2, done: 1 });
});

test('a producer that was not done leaves the run unsealed, also beside one that was', async () => {
  const store = await setup();
  await store.runs.open('r', FAST_RUN, 'other');
  await store.runs.seal('r', 'p');
  const again = await reopened(store, store.clock);
  expect(await again.runs.progress('r')).toMatchObject({ state: 'running', sealed: false });
  await again.runs.open('r', FAST_RUN, 'next');
  await again.runs.seal('r', 'next');
  expect(await again.runs.progress('r')).toMatchObject({ state: 'finished' });
});

test('after two crashes, the seeds count once, and the producer that was done seals the run', async () => {
  const store = await setup();
  await store.frontier.offer('r', [page('1'), page('2')]);
  const second = await reopened(store, store.clock);
  await second.runs.open('r', FAST_RUN, 'p2');
  await second.frontier.offer('r', [page('1')]);
  const third = await reopened(second, store.clock);
  await third.runs.open('r', FAST_RUN, 'p3');
  await third.frontier.offer('r', [page('1'), page('2'), page('3')]);
  await third.runs.seal('r', 'p3');
  const fourth = await reopened(third, store.clock);
  expect(await fourth.runs.progress('r')).toMatchObject({ sealed: true, discovered: 3, duplicate: 0 });
});

test('the time between two sessions is no time of the run', async () => {
  const store = await setup();
  store.clock.step(3_600_000);
  const again = await reopened(store, store.clock);
  const progress = await again.runs.progress('r');
  expect((progress?.readAt ?? 0) - (progress?.startedAt ?? 0)).toBeLessThan(60_000);
});

test('a line that a crash tore is cut off; what came before it stands', async () => {
  const store = await setup();
  await store.frontier.offer('r', [page('1'), page('2')]);
  for (const journal of store.journals.values()) await journal.close();
  await appendFile(store.path, 'task\t3\t0\tnormal\t0\t-\t-\thttp://a.te');
  const again = await openJournaledStore({ folder: store.folder, clock: store.clock, resume: ['r'] });
  expect(await again.runs.progress('r')).toMatchObject({ discovered: 2, waiting: 2 });
  await again.frontier.offer('r', [page('3')]);
  expect(await readFile(store.path, 'utf8')).toMatch(
    /\nsession\t2\t.*\nsynced\t.*\ntask\t3\t0\tnormal\t0\t-\t-\thttp:\/\/a.test\/3\t\n/,
  );
  await again.close();
});

test.each([
  ['task\t5\t0\tnormal\t0\t-\t-\thttp://a.test/5\t', 'expected task 2, got 5'],
  ['task\t2\t0\tnormal\tlate\t-\t-\thttp://a.test/5\t', 'expected a whole number, got "late"'],
  ['task\t2\t0\tsome\t0\t-\t-\thttp://a.test/5\t', 'expected one of priority, normal, got "some"'],
  ['task\t2\t0\tnormal\t0\t-\t-', 'a field is missing'],
  ['task\t2\t0\tnormal\t0\t-\t-\thttp://a.test/5\t{"depth":', 'expected the form of a task, got'],
  ['text\t2\t0\tnot JSON\t""', 'expected JSON, got "not JSON"'],
  ['done\t7\t1\t0', 'no task 7 is under way'],
  ['failed\t1\t0\t0\tbored', 'expected one of timeout'],
  ['sealed\tq\t0', 'no producer "q" is open'],
  ['\u0000\u0000', 'which is no kind of line'],
])('a line like %j is refused, by file and line', async (bad, problem) => {
  const store = await setup();
  await store.frontier.offer('r', [page('1')]);
  for (const journal of store.journals.values()) await journal.close();
  const lines = (await readFile(store.path, 'utf8')).trimEnd().split('\n');
  await writeFile(store.path, [...lines, bad, 'state\tpaused', ''].join('\n'));
  const text = await readFile(store.path, 'utf8');
  const opening = openJournaledStore({ folder: store.folder, clock: store.clock, resume: ['r'] });
  await expect(opening).rejects.toThrow(`${store.path} can't be read at line ${lines.length + 1}: `);
  await expect(opening).rejects.toThrow(problem);
  expect(await readFile(store.path, 'utf8'), 'nothing was changed').toBe(text);
});

test('a journal of a program that knew no incremental runs is read as one of a run that is none', async () => {
  const store = await setup();
  await store.frontier.offer('r', [page('1')]);
  for (const journal of store.journals.values()) await journal.close();
  const text = await readFile(store.path, 'utf8');
  await writeFile(store.path, text.replace(',"incremental":false,"recrawlAfterMs":0', ''));
  const again = await reopened(store, store.clock);
  expect(await again.runs.progress('r')).toMatchObject({ waiting: 1, options: FAST_RUN });
});
