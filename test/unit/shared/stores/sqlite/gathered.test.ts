import { expect, onTestFinished, test } from 'vitest';
import { nameOf } from '../../../../../shared/ports/frontier/frontier.ts';
import { FAST_RUN } from '../../../../support/builders.ts';
import { EVERYTHING, offerOf } from '../../../../support/stores/embedded.ts';
import { openLocalParts } from '../../../../support/stores/local-parts.ts';
import { SteppedClock } from '../../../../support/stores/stepped-clock.ts';
import { counted } from '../../../../support/stores/stores.ts';

type Ports = ReturnType<typeof openLocalParts>;

function open(gatherMs?: number): Ports {
  const ports = openLocalParts({
    clock: new SteppedClock(),

    incarnations: counted(),
    ...(gatherMs === undefined ? {} : { gatherMs }),
  });
  onTestFinished(() => ports.database.close());
  return ports;
}

/** Calls that depend on the changes of earlier ones, all begun before the first is answered. */
async function all({ frontier, runs, gate, hosts, marks, biographer }: Ports): Promise<unknown[]> {
  const urls = [1, 2, 3, 4].map((n) => offerOf(`http://${n % 2 === 0 ? 'a' : 'b'}.test/${n}`));
  const mark = 'http://a.test/2';
  const first = await Promise.all([
    runs.open('r', { ...FAST_RUN, dedup: 'run', intervalMs: 1_000 }, 'p'),
    runs.open('s', { ...FAST_RUN, dedup: 'run' }, 'p'),
    runs.list(9),
    frontier.offer('r', urls),
    frontier.offer('r', urls.slice(0, 2)),
    hosts.due(),
    runs.hosts('r', 9),
    gate.pause('a.test', 5_000, 'busy'),
    hosts.paused(9),
    runs.pause('s', 'a while'),
    frontier.release(EVERYTHING),
    runs.hosts('r', 9),
    biographer.trace('r', { mark, host: 'a.test' }),
    marks.ofRun('r', [mark, 'http://a.test/9']),
    runs.seal('s', 'p'),
    runs.cancel('s'),
    runs.list(9),
    hosts.due(),
    runs.progress('s'),
    frontier.reap(),
    runs.progress('r'),
  ]);
  const { tasks } = first[10];
  const [task] = tasks;
  if (task === undefined) throw new Error('nothing was released');
  const rest = await Promise.all([
    frontier.queued('r', [nameOf(task)]),
    frontier.admit('r', nameOf(task), 'w'),
    frontier.settle('r', nameOf(task), { outcome: { kind: 'failed', reason: 'http_4xx' }, hostAnswered: true }),
    frontier.settle('r', nameOf(task), { outcome: { kind: 'done' } }),
    frontier.offer('r', urls),
    marks.forget({ mark: task.task.mark }),
    gate.resume('a.test'),
    hosts.paused(9),
    frontier.release(EVERYTHING),
    runs.cancel('r'),
    frontier.drain(),
    runs.progress('r'),
    hosts.due(),
  ]);
  return [...first, ...rest];
}

test('calls made in one transaction answer as if made one after another', async () => {
  const expected = await all(open());
  expect(await all(open(1))).toEqual(expected);
});

test('a call that throws among them changes nothing for the others', async () => {
  const ports = open(1);
  const thrower = (): Promise<never> =>
    ports.store.move((moves) => {
      moves.host('a.test').reason = 'never';
      throw new RangeError('in the midst');
    });
  const outcomes = await Promise.allSettled([
    ports.runs.open('q', FAST_RUN, 'p'),
    thrower(),
    ports.frontier.offer('q', [offerOf('http://a.test/1')]),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await ports.runs.progress('q')).toMatchObject({ discovered: 1, waiting: 1 });
  expect(ports.database.all("SELECT 1 FROM hosts WHERE reason = 'never'")).toEqual([]);
});
