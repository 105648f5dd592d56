import { describe, expect, test } from 'vitest';
import { AT_FULL_SPEED } from '../support/full-speed.ts';
import { openFleet } from '../support/processes/fleet.ts';
import { AFTER_A_KILL_MS } from '../support/processes/kills.ts';
import { openWorkplace } from '../support/processes/trawl.ts';
import { openProxiedDatabase, openTestDatabase } from '../support/stores/postgres.ts';

const WORK = ['work', ...AT_FULL_SPEED];

describe('a fleet whose records go to Postgres', () => {
  test('when one of two workers is killed, every page is stored once', { timeout: AFTER_A_KILL_MS }, async () => {
    const { url, pool } = await openTestDatabase();
    const { workplace, site } = await openFleet({ pages: 1_200 }, { SINK: url });
    const [doomed, survivor] = [workplace.start(WORK), workplace.start([...WORK, '--exit-when-idle'])] as const;
    await Promise.all([doomed.says(/consuming/), survivor.says(/consuming/)]);
    const storedBoth =
      'SELECT count(*) FROM (SELECT 1 FROM trawl_records GROUP BY worker HAVING count(*) >= 20) stored';
    site.on('/page/400', async (_, response) => {
      await expect.poll(async () => (await pool.query(storedBoth)).rows[0].count).toBe('2');
      doomed.signal('SIGKILL');
      response.end('<title>Page 400</title>');
    });
    const urls = [...Array.from({ length: 1_200 }, (_, n) => site.url(`/page/${n + 1}`)), site.url('/status/404')];
    const summary = await workplace.json(['produce', '-', '--wait', ...AT_FULL_SPEED], urls.join('\n'));
    expect(summary).toMatchObject({ state: 'finished', discovered: 1_201, done: 1_200, failed: 1 });
    expect((await survivor.ended).code).toBe(0);
    const records = await workplace.records(summary.run);
    expect(records.length).toBe(1_200);
    expect(new Set(records.map(({ url }) => url)).size).toBe(1_200);
    expect(new Set(records.map(({ worker }) => worker)).size).toBe(2);
    expect((await workplace.records(summary.run, '--failed')).map(({ reason }) => reason)).toEqual(['http_4xx']);
    const csv = await workplace.run(['records', summary.run, '--format', 'csv']);
    expect(csv.stdout.trimEnd().split('\r\n').length).toBe(1_201);
    const { rows } = await pool.query("SELECT count(*) FROM trawl_records WHERE data->'links' IS NOT NULL");
    expect(Number(rows[0].count)).toBeGreaterThan(1_000);
    const missing = await workplace.run(['records', 'nothing']);
    expect(missing.stderr).toMatch(/no records of run nothing in Postgres at \S+; it has .*\(SINK\)/);
    expect(missing.stderr + csv.stderr).not.toContain('password');
  });

  test('while Postgres is away, a worker stops consuming and says so; later it resumes by itself, at no attempt', async () => {
    const { proxied, proxy } = await openProxiedDatabase();
    const { workplace, site } = await openFleet({ pages: 600 }, { SINK: proxied });
    const worker = workplace.start([...WORK, '--worker-concurrency', '8']);
    await worker.says(/consuming/);
    site.on('/page/200', (_, response) => {
      if (site.count('/page/200') === 1) proxy.close();
      response.end('<title>Page 200</title>');
    });
    const run = workplace.json(['produce', site.url('/sitemap.xml'), '--wait', ...AT_FULL_SPEED]);
    await worker.says(/records can't be stored/);
    await expect
      .poll(async () => (await workplace.json(['status'])).workers[0].state)
      .toMatch(/^waiting: records can't be stored/);
    proxy.open();
    const summary = await run;
    expect(summary).toMatchObject({ discovered: 600, done: 600, failed: 0 });
    const records = await workplace.records(summary.run);
    expect(new Set(records.map(({ url }) => url)).size).toBe(600);
    expect(new Set(records.map(({ attempt }) => attempt))).toEqual(new Set([1]));
    worker.signal('SIGTERM');
    const { code, stderr } = await worker.ended;
    expect([code, stderr.includes('trawl-password')]).toEqual([0, false]);
  });

  test('a worker that starts before Postgres waits for it, and doctor reports it once it answers', async () => {
    const { proxied, proxy } = await openProxiedDatabase();
    const { workplace } = await openFleet({}, { SINK: proxied });
    proxy.close();
    const worker = workplace.start(WORK);
    await worker.says(/Postgres at 127\.0\.0\.1:\d+: .*Attempt 2 failed:/);
    proxy.open();
    await worker.says(/Connected to Postgres on attempt \d/);
    await worker.says(/consuming/);
    const doctor = await workplace.run(['doctor']);
    expect(doctor.stdout).toMatch(/ok {7}records: Postgres at \S+ answers; records of 0 runs there/);
    worker.signal('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  test('commands give up on an unreachable Postgres with one line: doctor at once, others after ten attempts', async () => {
    const workplace = await openWorkplace({ SINK: 'postgres://someone:secret@127.0.0.1:1/records' });
    const [records, doctor] = await Promise.all([
      workplace.run(['records', '--log-level', 'error']),
      workplace.run(['doctor']),
    ]);
    const said = (attempts: string): RegExp =>
      new RegExp(
        `Postgres at 127\\.0\\.0\\.1:1 can't be reached, after ${attempts}: connect ECONNREFUSED .*Check SINK, and that it runs: .*\\n`,
      );
    expect(records.stderr.split('\n')).toEqual([
      expect.stringMatching(/^trawl: Postgres at .* after 10 attempts: /),
      '',
    ]);
    expect(records).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(said('10 attempts')) });
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(said('1 attempt')) });
    expect(records.stderr + doctor.stdout + doctor.stderr).not.toContain('secret');
  });
});
