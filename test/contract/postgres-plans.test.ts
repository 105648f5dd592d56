import { expect, onTestFinished, test } from 'vitest';
import { openPostgresPool } from '../../shared/sinks/postgres/connection.ts';
import { PostgresSink } from '../../shared/sinks/postgres/sink.ts';
import { PostgresSource } from '../../shared/sinks/postgres/source.ts';
import { doneRecord } from '../support/builders.ts';
import { openTestDatabase } from '../support/stores/postgres.ts';

/** Settings with which Postgres sends the plan of each executed statement as a notice. */
const EXPLAINED = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'client_min_messages=log',
];
const RUNS = ['early', 'late'];
/** With fewer rows, Postgres rightly reads a whole table instead of using an index. */
const ROWS_OF_A_RUN = 10_000;

/** Opens a sink and a source on a table with two big runs, and collects the plans of their queries. */
async function setup() {
  const { url, pool } = await openTestDatabase();
  const explained = new URL(url);
  const options = EXPLAINED.map((option) => `-c${option}`).join(' ');
  explained.searchParams.set('options', `${explained.searchParams.get('options')} ${options}`);
  const plans: string[] = [];
  const [sinks, sources] = [
    openPostgresPool(explained.href, 'trawl test'),
    openPostgresPool(explained.href, 'trawl test'),
  ];
  for (const explaining of [sinks, sources])
    explaining.on('connect', (client) => client.on('notice', ({ message }) => plans.push(String(message))));
  const [sink, source] = [new PostgresSink({ pool: sinks }), new PostgresSource({ pool: sources })];
  onTestFinished(async () => void (await Promise.all([sink.stop(), source.close()])));
  await sink.start();
  for (const run of RUNS) {
    await pool.query(
      `INSERT INTO trawl_records (run, task, release, outcome, crawler, step, url, title, fetched_at, attempt, worker, depth)
       SELECT $1, md5(n::text), n, 'done', 'page', '', 'http://a.test/' || n, repeat('title', 40), now(), 1, 'w-1', 0
         FROM generate_series(1, ${ROWS_OF_A_RUN}) AS n`,
      [run],
    );
  }
  await pool.query('ANALYZE trawl_records');
  plans.length = 0;
  return { sink, source, plans: () => plans.splice(0).filter((plan) => plan.includes('trawl_records')) };
}

const whole = (plan: string): boolean => plan.includes('Seq Scan on trawl_records');

test('no query of sink or source scans the whole table, and checking that a run exists does not scan the run', async () => {
  const { sink, source, plans } = await setup();
  await source.connect();
  await source.find('late', 'nothing');
  await source.has('late');
  await source.runs();
  expect(await source.last()).toBe('late');
  await sink.put(doneRecord('http://a.test/1', { run: 'late' }));
  const short = plans();
  expect(short.length).toBeGreaterThanOrEqual(6);
  expect(short.filter((plan) => whole(plan) || plan.includes('Bitmap'))).toEqual([]);

  expect((await Array.fromAsync(source.read('late'))).length).toBe(ROWS_OF_A_RUN + 1);
  const long = plans();
  expect(long.filter((plan) => plan.includes('DECLARE'))).not.toEqual([]);
  expect(long.filter(whole)).toEqual([]);
});
