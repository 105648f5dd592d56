import { expect, test } from 'vitest';
import { FailureLines } from '../../../../services/worker/failure-lines.ts';
import { readLetter } from '../../../../shared/control/letters/letter-filter.ts';
import { letterJson } from '../../../../shared/control/letters/letter-json.ts';
import { readDeadLetter } from '../../../../shared/ports/dead-letter.ts';
import { FAST_RUN } from '../../../support/builders.ts';
import { EVERYTHING, LogLines, offerOf, openEmbedded, releaserOf } from '../../../support/stores/embedded.ts';
import { deliveryOf, MemorySink, setup } from './setup.ts';

/** A releaser of a process that keeps records. */
async function open() {
  const stores = openEmbedded();
  await stores.runs.open('r', { ...FAST_RUN, crawler: 'headlines' }, 'p');
  const sink = new MemorySink();
  const failures = new FailureLines({ ...stores, sink, worker: 'w-1', crawler: 'page' });
  const releaser = releaserOf({
    ...stores,
    log: new LogLines(),
    onFailure: (task, reason) => failures.ofReleased(task, reason),
  });
  await stores.frontier.offer('r', [
    offerOf('http://a.test/1', { deadlineMs: 1_000 }),
    { malformed: 'htp://x', problem: 'its scheme is htp' },
  ]);
  stores.clock.step(1_000);
  return { ...stores, sink, failures, releaser };
}

test('a task that release finds past its deadline or malformed leaves a failure line with the records', async () => {
  const { releaser, sink, runs } = await open();
  await releaser.fill();
  const head = { run: 'r', outcome: 'failed', crawler: 'headlines', worker: 'w-1', attempt: 0 };
  expect(sink.records.toSorted((a, b) => (a.url < b.url ? -1 : 1))).toMatchObject([
    { ...head, url: 'htp://x', reason: 'malformed', error: 'its scheme is htp' },
    { ...head, url: 'http://a.test/1', reason: 'deadline', error: expect.stringMatching(/^its deadline was \d{4}-/) },
  ]);
  expect(await runs.progress('r')).toMatchObject({ failed: 2, waiting: 0 });
});

test('the failure line of a page whose host was given up says so, as its dead letter does', async () => {
  const { frontier, failures, sink } = await open();
  await frontier.offer('r', [offerOf('http://down.test/1')]);
  const { tasks } = await frontier.release(EVERYTHING);
  for (const released of tasks.filter(({ task }) => task.host === 'down.test'))
    await failures.ofReleased(released, 'host_down');
  const error = 'its host never answered, or gave nothing but errors for too long';
  expect(sink.records).toMatchObject([{ url: 'http://down.test/1', reason: 'host_down', error }]);
});

test('while records can’t be stored, a failed task keeps waiting and is not dead-lettered', async () => {
  const { releaser, sink, runs, transport } = await open();
  sink.failure = new Error('the disk is full');
  await releaser.start();
  await expect.poll(async () => (await runs.progress('r'))?.waiting).toBe(2);
  await releaser.stop();
  expect(await transport.browse(9)).toEqual([]);
  sink.failure = undefined;
  await releaser.fill();
  expect([sink.records.length, (await transport.browse(9)).length]).toEqual([2, 2]);
});

test('a message that is not a task leaves a failure line in the run its id names, or in the run for foreign messages', async () => {
  const { parts, pipeline, sink, transport } = await setup();
  const failures = new FailureLines({ ...parts, runs: { progress: async () => undefined }, crawler: 'page' });
  const deadLetter = (body: string, id?: string): Promise<string> =>
    pipeline({ failures }).handle(deliveryOf(body, id === undefined ? {} : { id }));
  expect(await deadLetter('no task')).toBe('ack');
  expect(await deadLetter('{"url":7}', 'mine:0123')).toBe('ack');
  expect(sink.records).toMatchObject([
    { run: 'amqp', url: 'no task', reason: 'malformed', error: 'the body is not JSON', release: 0 },
    { run: 'mine', url: '{"url":7}', reason: 'malformed' },
  ]);
  expect(sink.records[0]?.task).toMatch(/^amqp:[0-9a-f]{32}$/);
  sink.failure = new Error('the disk is full');
  expect(await deadLetter('another')).toBe('return');
  const letters = await transport.browse(9);
  expect(letters.map(({ body }) => [new TextDecoder().decode(body), readDeadLetter(body)])).toEqual([
    ['no task', undefined],
    ['{"url":7}', undefined],
  ]);
});

test('the credentials in a message that is not a task appear neither in its failure line nor in its dead letter', async () => {
  const { parts, pipeline, sink, transport } = await setup();
  const failures = new FailureLines({ ...parts, runs: { progress: async () => undefined }, crawler: 'page' });
  const task = {
    url: 'htp://a.test/',
    logins: { 'https://a.test': 'user:hunter22' },
    cookies: [['https://a.test/', 'id=hunter22']],
    request: {
      method: 'GET',
      headers: { Authorization: 'Bearer hunter22', 'x-api-key': 'hunter22', accept: 'text/html' },
    },
    owner: { url: 'https://user:hunter22@a.test/', logins: { 'https://a.test': 'user:hunter22' } },
  };
  expect(await pipeline({ failures }).handle(deliveryOf(JSON.stringify(task)))).toBe('ack');
  const [message] = await transport.browse(1);
  if (message === undefined) throw new Error('it was dead-lettered');
  const letter = letterJson(readLetter(message));
  expect(letter).toMatchObject({
    raw: '{"url":"htp://a.test/","request":{"method":"GET","headers":{"Authorization":"…","x-api-key":"…","accept":"text/html"}},"owner":{"url":"https://a.test/"}}',
  });
  expect(JSON.stringify([letter, sink.records])).not.toContain('hunter22');
});
