import { expect, test } from 'vitest';
import { FailFastSink } from '../../../../services/process/fail-fast-sink.ts';
import { RecordRefusedError } from '../../../../shared/ports/sink.ts';
import { StorageError, UnavailableError } from '../../../../shared/runtime/errors.ts';
import { doneRecord } from '../../../support/builders.ts';
import { SteppedClock } from '../../../support/stores/stepped-clock.ts';

/** A sink that fails with each of `errors` in turn, and succeeds where one is undefined or none is left. */
function sinkThatFails(...errors: readonly (Error | undefined)[]) {
  const left = [...errors];
  const fail = async (): Promise<void> => {
    const error = left.shift();
    if (error !== undefined) throw error;
  };
  const files = { put: () => fail().then(() => 'files/a.pdf') };
  const clock = new SteppedClock();
  const sink = new FailFastSink({ put: fail, start: async () => {}, stop: async () => {} }, files, clock);
  return { sink, clock, put: () => sink.put(doneRecord('http://a.test/1')) };
}

test('a full disk ends the crawl with its error when a record is stored', async () => {
  const full = new StorageError("output/mine/w.jsonl can't be written: ENOSPC");
  const { sink, put } = sinkThatFails(full);
  await expect(put()).rejects.toBe(full);
  expect(sink.failure.reason).toBe(full);
});

test('a full disk ends the crawl with its error when a file is stored', async () => {
  const full = new StorageError("output/mine/files/a.pdf can't be written: ENOSPC");
  const { sink } = sinkThatFails(full);
  const file = { run: 'mine', body: new Uint8Array(1), hash: 'a', extension: 'pdf' };
  await expect(sink.files.put(file)).rejects.toBe(full);
  expect(sink.failure.reason).toBe(full);
});

test('a record that the sink refuses fails its page but does not end the crawl', async () => {
  const refused = new RecordRefusedError('the record is too large', { reason: 'too_large' });
  const { sink, put } = sinkThatFails(refused);
  await expect(put()).rejects.toBe(refused);
  expect(sink.failure.aborted).toBe(false);
  await put();
});

test('a sink that is unavailable for less than a minute does not end the crawl, however often', async () => {
  const away = new UnavailableError('Postgres accepts no records');
  const outage = [away, away, undefined];
  const { sink, clock, put } = sinkThatFails(...outage, ...outage, ...outage);
  for (let n = 0; n < 3; n++) {
    await expect(put()).rejects.toBe(away);
    clock.step(59_000);
    await expect(put()).rejects.toBe(away);
    await put();
  }
  expect(sink.failure.aborted).toBe(false);
});

test('a sink that is unavailable for a minute ends the crawl', async () => {
  const away = new UnavailableError('Postgres accepts no records');
  const { sink, clock, put } = sinkThatFails(away, away);
  await expect(put()).rejects.toBe(away);
  clock.step(60_000);
  await expect(put()).rejects.toBe(away);
  expect(sink.failure.reason).toBe(away);
});
