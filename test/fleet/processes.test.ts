import { expect, test } from 'vitest';
import { memoryLimit } from '../../shared/runtime/limits.ts';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { allPages, openFleet, pagesFetched } from '../support/processes/fleet.ts';
import { AFTER_A_KILL_MS } from '../support/processes/kills.ts';
import type { Trawl } from '../support/processes/trawl.ts';

const WORK = [...AT_FULL_SPEED, '--log-format', 'json'];

/** The complete lines that a supervisor and its workers have logged so far. */
// biome-ignore lint/suspicious/noExplicitAny: what a log line has
function linesOf(trawl: Trawl): any[] {
  return trawl.said
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Waits until at least `count` log lines have this message, and returns them. */
// biome-ignore lint/suspicious/noExplicitAny: what a log line has
async function said(trawl: Trawl, message: RegExp, count: number): Promise<any[]> {
  const matching = () => linesOf(trawl).filter(({ msg }) => message.test(msg));
  await expect.poll(() => matching().length).toBeGreaterThanOrEqual(count);
  return matching();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Two workers under one supervisor, and a run whose pages take a while. */
async function setup(pages: number) {
  const fleet = await openFleet({ pages });
  for (const path of allPages(pages)) {
    fleet.site.on(path, (_, response) => void setTimeout(() => response.end('<title>slow</title>'), 20));
  }
  const slots = ['--worker-concurrency', '4'];
  const supervisor = fleet.workplace.start(['work', '--processes', '2', ...WORK, ...slots]);
  const started = await said(supervisor, /^a worker process started$/, 2);
  const consuming = await said(supervisor, /^consuming$/, 2);
  const produce = () => fleet.workplace.json(['produce', fleet.site.url('/sitemap.xml'), '--wait', ...AT_FULL_SPEED]);
  return { ...fleet, supervisor, consuming, pids: started.map(({ workerPid }) => workerPid as number), produce };
}

test('each worker process has its own name, and a killed one is replaced with nothing lost', {
  timeout: AFTER_A_KILL_MS,
}, async () => {
  const { supervisor, consuming, pids, produce, site } = await setup(150);
  expect(consuming.map(({ worker, process: number }) => [number, worker.endsWith(`-${number}`)]).toSorted()).toEqual([
    [1, true],
    [2, true],
  ]);
  const half = Math.floor(memoryLimit() / 2 / 2 ** 20);
  expect(
    consuming.map(({ memoryMiB }) => memoryMiB),
    'they share the memory',
  ).toEqual([half, half]);
  const produced = produce();
  await site.arrival('/page/40');
  process.kill(pids[0] as number, 'SIGKILL');
  const [ended] = await said(supervisor, /ended, and will be restarted/, 1);
  expect(ended).toMatchObject({ by: 'SIGKILL', seconds: 1 });
  await said(supervisor, /^consuming$/, 3);
  expect(await produced).toMatchObject({ state: 'finished', done: 150, failed: 0, records: 150 });
  expect(new Set(pagesFetched(site))).toEqual(new Set(allPages(150)));
  supervisor.signal('SIGTERM');
  expect((await supervisor.ended).code).toBe(0);
});

test('SIGTERM stops all worker processes cleanly, and other workers finish what is left', async () => {
  const { supervisor, pids, produce, site, workplace } = await setup(150);
  const produced = produce();
  await site.arrival('/page/40');
  supervisor.signal('SIGTERM');
  expect((await supervisor.ended).code).toBe(0);
  expect(pids.some(isAlive)).toBe(false);
  expect(await said(supervisor, /^stopped$/, 2)).toHaveLength(2);
  workplace.start(['work', ...WORK]);
  expect(await produced).toMatchObject({ state: 'finished', done: 150, failed: 0, records: 150 });
  expect(pagesFetched(site), 'nothing was asked for twice').toHaveLength(150);
});

test('Ctrl-C ends the supervisor with exit code 130, and a killed supervisor leaves no worker behind', async () => {
  const { supervisor } = await setup(1);
  supervisor.signal('SIGINT');
  expect((await supervisor.ended).code).toBe(130);
  const other = await setup(1);
  other.supervisor.signal('SIGKILL');
  await expect.poll(() => other.pids.some(isAlive)).toBe(false);
});

test('--exit-when-idle ends the supervisor and its workers once no run has work', async () => {
  const { workplace, site } = await openFleet({ pages: 60 });
  const supervisor = workplace.start(['work', '--processes', '2', '--exit-when-idle', ...WORK]);
  await said(supervisor, /^consuming$/, 2);
  await workplace.json(['produce', site.url('/sitemap.xml'), ...AT_FULL_SPEED]);
  expect((await supervisor.ended).code).toBe(0);
  expect(pagesFetched(site)).toHaveLength(60);
  expect(linesOf(supervisor).filter(({ msg }) => msg === 'a worker process started')).toHaveLength(2);
});

test('a worker process that keeps dying is restarted after longer and longer waits', async () => {
  const { workplace } = await openFleet();
  const supervisor = workplace.start(['work', '--processes', '1', ...WORK]);
  for (const deaths of [1, 2, 3]) {
    const started = await said(supervisor, /^a worker process started$/, deaths);
    process.kill(started.at(-1)?.workerPid, 'SIGKILL');
    const ended = await said(supervisor, /ended, and will be restarted/, deaths);
    expect(ended.map(({ seconds }) => seconds)).toEqual([1, 2, 4].slice(0, deaths));
  }
  supervisor.signal('SIGTERM');
  await supervisor.ended;
  expect(linesOf(supervisor).at(-1)).toMatchObject({ msg: 'all worker processes stopped' });
  expect(linesOf(supervisor).filter(({ msg }) => msg === 'a worker process started')).toHaveLength(3);
});

test('a setting that every worker refuses ends the supervisor with the reason, without restarts', async () => {
  const { workplace } = await openFleet();
  const supervisor = workplace.start(['work', '--processes', '2', '--host-headers', 'missing.json', ...WORK]);
  const { code, stderr } = await supervisor.ended;
  expect(code).toBe(78);
  expect(stderr).toContain('missing.json');
  expect(stderr).not.toContain('will be restarted');
});

test.each(['0', 'many', '1.5', ''])('--processes "%s" is refused', async (count) => {
  const { workplace } = await openFleet();
  const { code, stderr } = await workplace.run(['work', '--processes', count]);
  expect(code).toBe(2);
  expect(stderr).toBe(`trawl: expected --processes to be a whole number from 1 to 1024, or auto, got "${count}"\n`);
});
